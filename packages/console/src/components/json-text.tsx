// A string in JSON: a long one is truncated and can be expanded; markdown and images can be rendered.
import { lazy, type ReactNode, Suspense, useState } from "react";
import { spellTurns } from "./inline-json.ts";
import { isPicture } from "./markdown/addresses.ts";
import { looksLikeMarkdown } from "./markdown/looks-like-markdown.ts";

const Markdown = lazy(() => import("./markdown/markdown.tsx"));

const longString = 160;

export function JsonText({ text }: { readonly text: string }) {
  if (isPicture(text))
    return (
      <Drawable text={text} name="Picture" drawn>
        <img className="json-picture" src={text} alt="the value, drawn" />
      </Drawable>
    );
  if (!looksLikeMarkdown(text)) return <Quoted text={text} />;
  return (
    <Drawable text={text} name="Markdown">
      <div className="json-page">
        <Suspense fallback={<span className="skeleton" />}>
          <Markdown text={text} />
        </Suspense>
      </div>
    </Drawable>
  );
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

/** A string that can also be rendered; `drawn`: it is at first. */
function Drawable({
  text,
  name,
  drawn: atFirst = false,
  children,
}: {
  readonly text: string;
  readonly name: string;
  readonly drawn?: boolean;
  readonly children: ReactNode;
}) {
  const [drawn, setDrawn] = useState(atFirst);
  return (
    <>
      {!drawn && <Quoted text={text} />}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is not inline */}
      <span className="json-views" role="group" aria-label="Show as">
        <button type="button" aria-pressed={!drawn} onClick={() => setDrawn(false)}>
          Text
        </button>
        <button type="button" aria-pressed={drawn} onClick={() => setDrawn(true)}>
          {name}
        </button>
      </span>
      {drawn && children}
    </>
  );
}
