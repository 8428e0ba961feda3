// Markdown as elements: the rendering, and protection against active content.
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import Markdown from "./markdown.tsx";

const drawn = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }));

test("headings, emphasis, lists, quotes, tables and code are drawn as such", () => {
  expect(drawn("# Title")).toContain('<h3 dir="auto">Title</h3>');
  expect(drawn("**bold** *slanted* ~~gone~~ `code`")).toContain(
    '<strong>bold</strong> <em>slanted</em> <del>gone</del> <code dir="auto">code</code>',
  );
  expect(drawn("3. a\n4. b")).toContain('<ol dir="auto" start="3"><li>a</li><li>b</li></ol>');
  expect(drawn("- a\n  - b")).toContain("<li>a<ul><li>b</li></ul></li>");
  expect(drawn("- [x] a")).toMatch(/<li class="task"><input [^>]*disabled=""[^>]*checked=""\/>a<\/li>/);
  expect(drawn("> quoted")).toContain('<blockquote dir="auto"><p>quoted</p></blockquote>');
  expect(drawn("|a|b|\n|-|-:|\n|1|2|")).toMatch(
    /<th>a<\/th><th class="to-right">b<\/th>.*<td class="to-right">2<\/td>/,
  );
  const code = drawn("```ts\nif (a < b) **c**\n```");
  expect(code).toContain("<code>if (a &lt; b) **c**</code>");
  expect(code).toContain('aria-label="Copy code"');
  expect(drawn("one\ntwo")).toContain("one<br/>two");
});

test("HTML is shown as it is written, and none is made", () => {
  const text =
    '<img src=x onerror="alert(1)"> <b>raw</b>\n\n<script>alert(1)</script>\n\n<div onclick="a()">\nwords\n</div>';
  const html = drawn(text);
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(html).not.toMatch(/<(img|b|script|div (?!class="markdown"))/);
});

test("links lead to the web and to mail, in a new tab without access to this one", () => {
  expect(drawn("[a *b*](https://example.com/x)")).toContain(
    '<a class="link" href="https://example.com/x" title="https://example.com/x" target="_blank" rel="noopener noreferrer">a <em>b</em></a>',
  );
  expect(drawn("www.example.com")).toContain('href="http://www.example.com/"');
  expect(drawn("[m](mailto:a@example.com)")).toContain('href="mailto:a@example.com"');
});

test.each([
  "[a](javascript:alert(1))",
  "[a](JaVaScRiPt:alert(1))",
  "[a](\u0001javascript:alert(1))",
  "[a](data:text/html,<script>alert(1)</script>)",
  "[a](vbscript:x)",
  "[a](file:///etc/passwd)",
  "[a](/console/executions)",
  "[a](//example.com)",
  "[a](#top)",
  "<javascript:alert(1)>",
  "[a][r]\n\n[r]: javascript:alert(1)",
  "![a](javascript:alert(1))",
])("no link comes of %j", (text) => {
  expect(drawn(text)).not.toMatch(/<(a|img) |href=|src=/);
});

test("a picture from elsewhere is a link to it, one that is in the text is drawn, a drawing that is a document is not", () => {
  const outside = drawn("![a chart](https://example.com/a.png?secret)");
  expect(outside).toContain('href="https://example.com/a.png?secret"');
  expect(outside).toContain("Picture: a chart");
  expect(outside).not.toContain("<img");
  expect(drawn("![dot](data:image/png;base64,AAAA)")).toContain(
    '<img src="data:image/png;base64,AAAA" alt="dot"/>',
  );
  expect(drawn("![dot](data:image/svg+xml;base64,AAAA)")).not.toMatch(/<img|href/);
});
