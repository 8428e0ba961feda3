// A JSON value, folded to what fits: long lists and strings are cut and can be opened, all of it can be copied.
import { type ReactNode, useState } from "react";
import { CopyButton } from "./copy.tsx";
import "./json-view.css";

const longString = 160;
const manyEntries = 12;

export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <section className="json" aria-label={label}>
      <div className="json-copy">
        <CopyButton quiet label={`Copy ${label}`} text={JSON.stringify(value, null, 2) ?? "null"} />
      </div>
      <code>
        <Value value={value} depth={0} />
      </code>
    </section>
  );
}

function Value({ value, depth }: { readonly value: unknown; readonly depth: number }): ReactNode {
  if (typeof value === "string") return <Text text={value} />;
  if (typeof value !== "object" || value === null) return <span className="json-bare">{String(value)}</span>;
  const isList = Array.isArray(value);
  const entries: readonly (readonly [string, unknown])[] = isList
    ? value.map((item, index) => [String(index), item] as const)
    : Object.entries(value);
  return <Entries entries={entries} isList={isList} depth={depth} />;
}

function Entries({
  entries,
  isList,
  depth,
}: {
  readonly entries: readonly (readonly [string, unknown])[];
  readonly isList: boolean;
  readonly depth: number;
}) {
  const [open, setOpen] = useState(depth < 2);
  const [shown, setShown] = useState(manyEntries);
  const [first, last] = isList ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return `${first}${last}`;
  if (!open) {
    return (
      <button type="button" className="json-fold" onClick={() => setOpen(true)}>
        {first} {entries.length} {isList ? "items" : "fields"} {last}
      </button>
    );
  }
  return (
    <>
      {first}
      <span className="json-inside">
        {entries.slice(0, shown).map(([name, item], index) => (
          <span key={name} className="json-line">
            {!isList && <span className="json-key">{JSON.stringify(name)}: </span>}
            <Value value={item} depth={depth + 1} />
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

function Text({ text }: { readonly text: string }) {
  const [whole, setWhole] = useState(false);
  if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(text))
    return <img className="json-picture" src={text} alt="the value, drawn" />;
  const isCut = text.length > longString && !whole;
  return (
    <>
      <span className="json-string">{JSON.stringify(isCut ? `${text.slice(0, longString)}…` : text)}</span>
      {isCut && (
        <button type="button" className="json-fold" onClick={() => setWhole(true)}>
          all {text.length} characters
        </button>
      )}
    </>
  );
}
