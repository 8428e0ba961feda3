// Inline markdown: emphasis, code, links, images. HTML is shown as plain text.
import type { MarkedToken, Token, Tokens } from "marked";
import type { ReactNode } from "react";
import { isPicture, linkAddress } from "./addresses.ts";
import { readCharacters } from "./spelt-characters.ts";

const known = new Set(
  "blockquote br checkbox code codespan def del em escape heading hr html image link list list_item paragraph space strong table text".split(
    " ",
  ),
);

export function isKnown(token: Token): token is MarkedToken {
  return known.has(token.type);
}

export function Inline({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: inline tokens have no ids
  return tokens.map((token, index) => <Piece key={index} token={token} />);
}

function Piece({ token }: { readonly token: Token }): ReactNode {
  if (!isKnown(token)) return token.raw;
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      );
    case "codespan":
      return <code dir="auto">{token.text}</code>;
    case "br":
      return <br />;
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw.trim()) ? <br /> : token.raw;
    case "escape":
      return token.text;
    case "text":
      return token.tokens === undefined ? readCharacters(token.text) : <Inline tokens={token.tokens} />;
    case "checkbox":
      return <input type="checkbox" checked={token.checked} disabled aria-label={checkWords(token)} />;
    case "link":
      return <LinkPiece token={token} />;
    case "image":
      return <PicturePiece token={token} />;
    default:
      return token.raw;
  }
}

const checkWords = ({ checked }: Tokens.Checkbox) => (checked ? "done" : "not done");

function LinkPiece({ token }: { readonly token: Tokens.Link }) {
  const { href, autolink, raw, text, tokens } = token;
  const address = linkAddress(autolink ? href : readCharacters(href));
  if (address === undefined) return raw;
  return (
    <a className="link" href={address} title={address} target="_blank" rel="noopener noreferrer">
      {autolink ? text : <Inline tokens={tokens} />}
    </a>
  );
}

/** A remote image is shown as a link: loading it would reveal the reader and the address to its owner. */
function PicturePiece({ token }: { readonly token: Tokens.Image }) {
  const { href, raw, text } = token;
  const words = readCharacters(text);
  if (isPicture(href)) return <img src={href} alt={words} />;
  const address = linkAddress(readCharacters(href));
  if (address === undefined) return raw;
  return (
    <a className="link" href={address} title={address} target="_blank" rel="noopener noreferrer">
      Picture: {words || address}
    </a>
  );
}
