// A string in JSON: a long one is truncated and can be expanded; markdown and images can be rendered.
import { lazy, Suspense, useState } from "react";
import { spellTurns } from "./inline-json.ts";
import { isPicture } from "./markdown/addresses.ts";
import { looksLikeMarkdown } from "./markdown/looks-like-markdown.ts";

const Markdown = lazy(() => import("./markdown/markdown.tsx"));

const longString = 160;

export function JsonText({ text }: { readonly text: string }) {
  if (isPicture(text)) return <Picture text={text} />;
  return looksLikeMarkdown(text) ? <Written text={text} /> : <Quoted text={text} />;
}

function Quoted({ text }: { readonly text: string }) {
  const [whole, setWhole] = useState(false);
  const isCut = text.length > longString && !whole;
  return (
    <>
      <span className="json-string">
        {spellTurns(JSON.stringify(isCut ? `${text.slice(0, longString)}…` : text))}
      </span>
      {isCut && (
        <button type="button" className="json-fold" onClick={() => setWhole(true)}>
          all {text.length} characters
        </button>
      )}
    </>
  );
}

function Picture({ text }: { readonly text: string }) {
  const [drawn, setDrawn] = useState(true);
  return (
    <>
      {!drawn && <Quoted text={text} />}
      <Views other="Picture" chosen={drawn} onChoose={setDrawn} />
      {drawn && <img className="json-picture" src={text} alt="the value, drawn" />}
    </>
  );
}

function Written({ text }: { readonly text: string }) {
  const [drawn, setDrawn] = useState(false);
  return (
    <>
      {!drawn && <Quoted text={text} />}
      <Views other="Markdown" chosen={drawn} onChoose={setDrawn} />
      {drawn && (
        <div className="json-page">
          <Suspense fallback={<span className="skeleton" />}>
            <Markdown text={text} />
          </Suspense>
        </div>
      )}
    </>
  );
}

/** Toggles between the plain string and its rendering. */
function Views({
  other,
  chosen,
  onChoose,
}: {
  readonly other: string;
  readonly chosen: boolean;
  readonly onChoose: (other: boolean) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is not inline
    <span className="json-views" role="group" aria-label="Show as">
      <button type="button" aria-pressed={!chosen} onClick={() => onChoose(false)}>
        Text
      </button>
      <button type="button" aria-pressed={chosen} onClick={() => onChoose(true)}>
        {other}
      </button>
    </span>
  );
}
