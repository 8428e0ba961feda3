// Copies a text, and says that it has.
import { Check, Copy as CopyIcon } from "lucide-react";
import { useEffect, useState } from "react";

export function useCopy(): [copied: boolean, copy: (text: string) => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const over = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(over);
  }, [copied]);
  return [
    copied,
    (text) => {
      void navigator.clipboard?.writeText(text).then(
        () => setCopied(true),
        () => setCopied(false),
      );
    },
  ];
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
  const [copied, copy] = useCopy();
  const icon = copied ? <Check /> : <CopyIcon />;
  return (
    <button
      type="button"
      className={quiet ? "btn plain icon" : "btn"}
      title={label}
      aria-label={label}
      onClick={() => copy(typeof text === "string" ? text : text())}
    >
      {quiet ? icon : copied ? "Copied" : label}
    </button>
  );
}
