// The data of a suspension for readers who write no code: names and values, text with its lines, links, dates, pictures.
import { lazy, type ReactNode, Suspense } from "react";
import { JsonView } from "../../components/json-view.tsx";
import { isPicture, linkAddress } from "../../components/markdown/addresses.ts";
import { looksLikeMarkdown } from "../../components/markdown/looks-like-markdown.ts";
import { labelOf } from "../../format/labels.ts";

const Markdown = lazy(() => import("../../components/markdown/markdown.tsx"));

/** A larger value is shown as JSON, which can be folded. */
const manyEntries = 20;
const deepest = 3;

export function Facts({ data }: { readonly data: unknown }) {
  if (data === undefined || typeof data === "string") return <div style={{ height: 20 }} />;
  return <div className="facts-frame">{drawn(data, "data", 0)}</div>;
}

function drawn(value: unknown, name: string, depth: number): ReactNode {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return <Text text={value} name={name} />;
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return "none";
  if (entries.length > manyEntries || depth > deepest) return <JsonView value={value} label={name} />;
  if (Array.isArray(value)) {
    return (
      <ul className={value.every(isImage) ? "facts-list pictures" : "facts-list"}>
        {entries.map(([index, item]) => (
          <li key={index}>{drawn(item, `${name} ${Number(index) + 1}`, depth + 1)}</li>
        ))}
      </ul>
    );
  }
  return (
    <dl className="facts">
      {entries.map(([field, item]) => [
        <dt key={field}>{labelOf(field)}</dt>,
        <dd key={`${field} value`}>{drawn(item, labelOf(field), depth + 1)}</dd>,
      ])}
    </dl>
  );
}

function isImage(value: unknown): boolean {
  return typeof value === "string" && isPicture(value);
}

/** A text: a picture, a date, markdown, or lines with links. */
export function Text({ text, name }: { readonly text: string; readonly name: string }) {
  if (isPicture(text)) return <img src={text} alt={name} />;
  const date = dateOf(text);
  if (date !== undefined)
    return (
      <time dateTime={text} title={text}>
        {date}
      </time>
    );
  if (looksLikeMarkdown(text))
    return (
      <Suspense fallback={<span className="skeleton" />}>
        <Markdown text={text} />
      </Suspense>
    );
  return (
    <span className="said lines" dir="auto">
      {text.split(/(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)])/).map((part, index) => {
        const address = index % 2 === 1 ? linkAddress(part) : undefined;
        if (address === undefined) return part;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text
          <a key={index} className="link" href={address} target="_blank" rel="noreferrer">
            {part}
          </a>
        );
      })}
    </span>
  );
}

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const moment = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short" });

/** A date, or a date with a time in the local time zone, in words. */
function dateOf(text: string): string | undefined {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  if (!isDay && !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text))
    return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : (isDay ? day : moment).format(time);
}
