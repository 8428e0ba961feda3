// The text of an error, with its line breaks: a long one is folded, and the whole can be copied.
import { useState } from "react";
import { CopyButton } from "./copy.tsx";

/** Lines and characters of a folded error. */
const fewLines = 6;
const fewCharacters = 500;

export function ErrorText({ text }: { readonly text: string }) {
  const [whole, setWhole] = useState(false);
  const folded = foldedText(text);
  const isLong = folded !== text;
  return (
    <div className="error-text">
      <p className="failure" dir="auto">
        {whole || !isLong ? text : folded}
      </p>
      <div className="row">
        {isLong && (
          <button
            type="button"
            className="text-button"
            aria-expanded={whole}
            onClick={() => setWhole(!whole)}
          >
            {whole ? "Show less" : "Show all of it"}
          </button>
        )}
        <CopyButton quiet label="Copy the error" text={text} />
      </div>
    </div>
  );
}

/** The first lines of a long text. */
function foldedText(text: string): string {
  const lines = text.split("\n").slice(0, fewLines).join("\n").slice(0, fewCharacters);
  return lines === text ? text : `${lines}…`;
}
