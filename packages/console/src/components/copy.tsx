// Copies a string, and says that it has, or that it could not.
import { Check, Copy as CopyIcon, X } from "lucide-react";
import { useEffect, useState } from "react";

type Outcome = "copied" | "failed" | undefined;

export function useCopy(): [copied: boolean, copy: (text: string) => void, failed: boolean] {
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => {
    if (outcome === undefined) return;
    const over = setTimeout(() => setOutcome(undefined), 1500);
    return () => clearTimeout(over);
  }, [outcome]);
  return [
    outcome === "copied",
    (text) => void copyText(text).then((isCopied) => setOutcome(isCopied ? "copied" : "failed")),
    outcome === "failed",
  ];
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is no clipboard on a page that came over plain HTTP, and a browser may refuse it.
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  // Inside an open dialog: elsewhere it could not have the focus.
  (before?.closest("[role=dialog]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}

export function CopyButton({
  text,
  label,
  quiet = false,
}: {
  /** A function where it is long: then it is made for those who copy it. */
  readonly text: string | (() => string);
  readonly label: string;
  /** Only an icon. */
  readonly quiet?: boolean;
}) {
  const [copied, copy, failed] = useCopy();
  const words = failed ? "Copy failed" : copied ? "Copied" : label;
  const icon = failed ? <X /> : copied ? <Check /> : <CopyIcon />;
  return (
    <button
      type="button"
      className={quiet ? "btn plain icon" : "btn"}
      title={words}
      aria-label={words}
      onClick={() => copy(typeof text === "string" ? text : text())}
    >
      {quiet ? icon : words}
    </button>
  );
}
