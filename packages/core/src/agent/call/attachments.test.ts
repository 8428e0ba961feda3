// Files that messages name by address.
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { Attachments } from "./attachments.ts";
import type { Download } from "./bounded-download.ts";
import { FileBudget } from "./file-budget.ts";

const file = (url: string, fields = {}) => ({
  type: "file" as const,
  mediaType: "image/png",
  url,
  ...fields,
});
const message = (...parts: UIMessage["parts"]): UIMessage => ({ id: "m", role: "user", parts });
const never = new AbortController().signal;

/** Loads addresses that end in `.png`, and writes down which. */
function loader() {
  const asked: string[] = [];
  const download: Download = async ({ url }) => {
    asked.push(url.href);
    if (!url.href.endsWith(".png")) throw new Error("404");
    return { data: new Uint8Array([1, 2, 3]), mediaType: undefined };
  };
  return { asked, download };
}

test("a loaded file replaces its address, and is loaded once", async () => {
  const { asked, download } = loader();
  const files = new Attachments(() => ({}), never, new FileBudget(), download);
  const sent = message({ type: "text", text: "look" }, file("https://a.example/x.png"));
  await files.check(sent);
  expect(await files.resolve([sent, sent])).toEqual([
    message({ type: "text", text: "look" }, file("data:image/png;base64,AQID")),
    message({ type: "text", text: "look" }, file("data:image/png;base64,AQID")),
  ]);
  expect(asked).toEqual(["https://a.example/x.png"]);
});

test("a forgotten file is loaded again", async () => {
  const { asked, download } = loader();
  const files = new Attachments(() => ({}), never, new FileBudget(), download);
  const sent = message(file("https://a.example/x.png"));
  await files.check(sent);
  files.forget();
  expect(await files.resolve([sent])).toEqual([message(file("data:image/png;base64,AQID"))]);
  expect(asked).toHaveLength(2);
});

test("a file that cannot be loaded is refused when it is sent, and a note when it is history", async () => {
  const files = new Attachments(() => ({}), never, new FileBudget(), loader().download);
  const gone = message(file("https://a.example/gone", { filename: "plan.png" }));
  await expect(files.check(gone)).rejects.toThrow(
    "input: the file plan.png could not be loaded from its URL",
  );
  await expect(files.check(message(file("not an address")))).rejects.toMatchObject({ status: 400 });
  expect(await files.resolve([gone])).toEqual([
    message({
      type: "text",
      text: '[A file "plan.png" (image/png) was here and is no longer available.]',
    }),
  ]);
});

test.each(["data:nonsense", "data:image/png;base64", "data:image/png;base64,not base64", "DATA:nonsense"])(
  "%s is refused when it is sent",
  async (url) => {
    const files = new Attachments(() => ({ "*": [/./] }), never, new FileBudget(), loader().download);
    await expect(files.check(message(file(url)))).rejects.toMatchObject({ status: 400 });
  },
);

test("a data URL in another form than base64 is put into it, and one in the history that is none is a note", async () => {
  const files = new Attachments(() => ({ "*": [/./] }), never, new FileBudget(), loader().download);
  const sent = message(file("data:text/plain,a%20b", { mediaType: "text/plain" }));
  await files.check(sent);
  expect(await files.resolve([sent])).toEqual([
    message(file("data:text/plain;base64,YSBi", { mediaType: "text/plain" })),
  ]);
  const [history] = await files.resolve([message(file("data:nonsense"))]);
  expect(history?.parts).toEqual([
    { type: "text", text: "[A file (image/png) was here and is no longer available.]" },
  ]);
});

test("files that the provider loads by itself, and files that are there already, are left alone", async () => {
  const { asked, download } = loader();
  const supported = { "image/*": [/^https:\/\/cdn\.example\//] };
  let told = 0;
  const files = new Attachments(
    () => {
      told++;
      return supported;
    },
    never,
    new FileBudget(),
    download,
  );
  const inside = message(file("data:image/png;base64,AQID"));
  expect(await files.resolve([inside])).toEqual([inside]);
  expect(told).toBe(0);
  const sent = message(file("https://cdn.example/gone"));
  await files.check(sent);
  expect(await files.resolve([sent])).toEqual([sent]);
  expect(asked).toEqual([]);
});

test.each(["*", "*/*", "image/*", "image/png"])(
  "a provider that loads %s by itself is left the file beside a text, too",
  async (pattern) => {
    const { asked, download } = loader();
    const files = new Attachments(
      () => ({ [pattern]: [/^https:\/\/cdn\.example\//] }),
      never,
      new FileBudget(),
      download,
    );
    const sent = message({ type: "text", text: "look" }, file("https://cdn.example/x.png"));
    await files.check(sent);
    expect(await files.resolve([sent])).toEqual([sent]);
    expect(asked).toEqual([]);
  },
);
