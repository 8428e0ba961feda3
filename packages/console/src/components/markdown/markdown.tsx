// Markdown as elements. HTML creates no elements, so text cannot contain active content.
import type { Token, Tokens } from "marked";
import { memo, type ReactNode, useState } from "react";
import { CopyButton } from "../copy.tsx";
import { blocksOf } from "./blocks.ts";
import { Inline, isKnown } from "./inline.tsx";
import { readCharacters } from "./spelt-characters.ts";
import "./markdown.css";

export default memo(function Markdown({ text }: { readonly text: string }) {
  const [shown, setShown] = useState(() => blocksOf(text));
  if (shown.text !== text) setShown(blocksOf(text, shown));
  return (
    <div className="markdown">
      <BlockList tokens={shown.blocks} dir="auto" />
    </div>
  );
});

/** Each top-level block has the direction of its first letters; nested blocks inherit it. */
type Direction = { readonly dir?: "auto" | undefined };

function BlockList({ tokens, dir }: { readonly tokens: readonly Token[] } & Direction): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no ids, and are only added at the end
  return tokens.map((token, index) => <Block key={index} token={token} dir={dir} />);
}

/** Rendered once: a finished block stays the same object. */
const Block = memo(function Block({ token, dir }: { readonly token: Token } & Direction): ReactNode {
  if (!isKnown(token)) return <p dir={dir}>{token.raw}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <Heading token={token} dir={dir} />;
    case "code":
      return <CodeBlock text={token.text} language={token.lang} />;
    case "list":
      return <List token={token} dir={dir} />;
    case "table":
      return <Table token={token} dir={dir} />;
    case "hr":
      return <hr />;
    case "blockquote":
      return (
        <blockquote dir={dir}>
          <BlockList tokens={token.tokens} />
        </blockquote>
      );
    case "paragraph":
      return (
        <p dir={dir}>
          <Inline tokens={token.tokens} />
        </p>
      );
    default:
      return (
        <p dir={dir}>
          <Inline tokens={[token]} />
        </p>
      );
  }
});

/** Starts at h3: the page and its sections use the first two levels. */
function Heading({ token: { depth, tokens }, dir }: { readonly token: Tokens.Heading } & Direction) {
  const Level = depth === 1 ? "h3" : depth === 2 ? "h4" : depth === 3 ? "h5" : "h6";
  return (
    <Level dir={dir}>
      <Inline tokens={tokens} />
    </Level>
  );
}

function List({ token: { ordered, start, items }, dir }: { readonly token: Tokens.List } & Direction) {
  const lines = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no ids, and are only added at the end
    <li key={index} className={item.task ? "task" : undefined}>
      <Item tokens={item.tokens} />
    </li>
  ));
  if (!ordered) return <ul dir={dir}>{lines}</ul>;
  return (
    <ol dir={dir} start={start === "" ? 1 : start}>
      {lines}
    </ol>
  );
}

/** The text of an item is inline; other content is rendered as blocks. */
function Item({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, index) => {
    const isWords = token.type === "text" || token.type === "checkbox";
    // biome-ignore lint/suspicious/noArrayIndexKey: as above
    return isWords ? <Inline key={index} tokens={[token]} /> : <Block key={index} token={token} />;
  });
}

function CodeBlock({ text, language }: { readonly text: string; readonly language: string | undefined }) {
  const [name = ""] = readCharacters(language ?? "").split(/\s/);
  return (
    <figure className="code-block">
      <figcaption>
        <span className="grow cut">{name}</span>
        <CopyButton quiet label="Copy code" text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} dir="ltr">
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function Table({ token: { header, rows }, dir }: { readonly token: Tokens.Table } & Direction) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <div className="table-scroll" tabIndex={0}>
      <table dir={dir}>
        <thead>
          <Row cells={header} />
        </thead>
        <tbody>
          {rows.map((cells, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ids, and are only added at the end
            <Row key={index} cells={cells} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ cells }: { readonly cells: readonly Tokens.TableCell[] }) {
  return (
    <tr>
      {cells.map(({ tokens, align, header }, index) => {
        const Cell = header ? "th" : "td";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a row never move
          <Cell key={index} className={align === null ? undefined : `to-${align}`}>
            <Inline tokens={tokens} />
          </Cell>
        );
      })}
    </tr>
  );
}
