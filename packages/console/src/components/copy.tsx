// Copies a string to the clipboard, and shows success or failure.
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
    // A page over plain HTTP has no clipboard API, and a browser may refuse access.
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  // Inside an open dialog, which keeps the focus inside.
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
  /** A function for a long text, which is then created only on copying. */
  readonly text: string | (() => string);
  readonly label: string;
  /** Shows only the icon. */
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
