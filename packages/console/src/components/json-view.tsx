// A JSON value: long lists and strings are truncated and can be expanded, and the whole value can be copied.
import { type ReactNode, Suspense, useState } from "react";
import { plural } from "../format/numbers.ts";
import { CopyButton } from "./copy.tsx";
import { spellTurns } from "./inline-json.ts";
import "./json-view.css";
import { lazyPart } from "./late-code.tsx";
import { isPicture } from "./markdown/addresses.ts";
import { looksLikeMarkdown } from "./markdown/looks-like-markdown.ts";

const manyEntries = 12;
/** A value with at most this many entries, at any depth, is fully expanded; others show two levels. */
const fewEntries = 30;
const openLevels = 2;

export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const levels = hasFewEntries(value) ? Number.POSITIVE_INFINITY : openLevels;
  return (
    <section className="json" aria-label={label}>
      <div className="json-copy">
        <CopyButton quiet label={`Copy ${label}`} text={() => JSON.stringify(value, null, 2) ?? "null"} />
      </div>
      <code>
        <Value value={value} levels={levels} />
      </code>
    </section>
  );
}

function hasFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Stops early: a value may have megabytes. */
function hasFewEntries(value: unknown): boolean {
  let seen = 0;
  const walk = (each: unknown): void => {
    if (!hasFields(each) || seen > fewEntries) return;
    for (const name in each) {
      seen += 1;
      if (seen > fewEntries) return;
      walk(each[name]);
    }
  };
  walk(value);
  return seen <= fewEntries;
}

/** `levels` are initially expanded. */
function Value({ value, levels }: { readonly value: unknown; readonly levels: number }): ReactNode {
  if (typeof value === "string") return <JsonText text={value} />;
  if (typeof value !== "object" || value === null) return <span className="json-bare">{String(value)}</span>;
  const isList = Array.isArray(value);
  const entries: readonly (readonly [string, unknown])[] = isList
    ? value.map((item, index) => [String(index), item] as const)
    : Object.entries(value);
  return <Entries entries={entries} isList={isList} levels={levels} />;
}

function Entries({
  entries,
  isList,
  levels,
}: {
  readonly entries: readonly (readonly [string, unknown])[];
  readonly isList: boolean;
  readonly levels: number;
}) {
  const [open, setOpen] = useState(levels > 0);
  const [shown, setShown] = useState(manyEntries);
  const [first, last] = isList ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return `${first}${last}`;
  if (!open) {
    return (
      <button type="button" className="json-fold" onClick={() => setOpen(true)}>
        {first} {plural(entries.length, isList ? "item" : "field")} {last}
      </button>
    );
  }
  return (
    <>
      {first}
      <span className="json-inside">
        {entries.slice(0, shown).map(([name, item], index) => (
          <span key={name} className="json-line">
            {!isList && <span className="json-key">{spellTurns(JSON.stringify(name))}: </span>}
            <Value value={item} levels={levels - 1} />
            {index < entries.length - 1 && ","}
          </span>
        ))}
        {entries.length > shown && (
          <button type="button" className="json-fold" onClick={() => setShown(shown + 200)}>
            {entries.length - shown} more
          </button>
        )}
      </span>
      {last}
    </>
  );
}

const Markdown = lazyPart(() => import("./markdown/markdown.tsx"));

const longString = 160;

/** A string in JSON: a long one is truncated and can be expanded; markdown and images can be rendered. */
function JsonText({ text }: { readonly text: string }) {
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
