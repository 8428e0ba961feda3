// Files that messages name by address.
import type { UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { FilesBusyError } from "../../errors/index.ts";
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

test("a file that finds no room can be tried again, also one of the history", async () => {
  const busy: Download = () => Promise.reject(new FilesBusyError());
  const files = new Attachments(() => ({}), never, new FileBudget(), busy);
  const sent = message(file("https://a.example/x.png"));
  await expect(files.check(sent)).rejects.toThrow(FilesBusyError);
  files.forget();
  await expect(files.resolve([sent])).rejects.toThrow(FilesBusyError);
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

/** Whether a provider that loads these addresses of this media type is left the file. */
async function isLeft(supported: Record<string, RegExp[]>, url = "https://cdn.example/x.png") {
  const { asked, download } = loader();
  const files = new Attachments(() => supported, never, new FileBudget(), download);
  const sent = message(file(url));
  // Beside a message without files, which does not count.
  const [, resolved] = await files.resolve([message({ type: "text", text: "look" }), sent]);
  const [part] = resolved?.parts ?? [];
  expect(part).toEqual(asked.length === 0 ? file(url) : file("data:image/png;base64,AQID"));
  return asked.length === 0;
}

test.each<[boolean, Record<string, RegExp[]>, string?]>([
  [true, { "image/*": [/other/, /cdn/] }],
  [true, { "audio/*": [/cdn/], "image/png": [/cdn/] }],
  [true, { "*": [/cdn/] }, "https://cdn.example/x.png?from=data:x.png"],
  [false, {}],
  [false, { "image/*": [/other/] }],
  [false, { "audio/*": [/cdn/] }],
  [false, { "image/jpeg": [/cdn/] }],
  [false, { "image/pngx": [/cdn/] }],
  [false, { "icons/*": [/cdn/] }],
  [false, { "*": [] }],
  [false, {}, "https://cdn.example/;base64,x.png"],
])("a file is left to the provider: %s with %o", async (expected, supported, url) => {
  expect(await isLeft(supported, url)).toBe(expected);
});

test.each(["", "AQID", "AQI=", "AQ==", "A-_+/9"])("the base64 %j is accepted as it is", async (data) => {
  const { asked, download } = loader();
  const files = new Attachments(() => ({}), never, new FileBudget(), download);
  const sent = [message(file(`data:image/png;base64,${data}`))];
  for (const each of sent) await files.check(each);
  expect(await files.resolve(sent)).toBe(sent);
  expect(asked).toEqual([]);
});

test.each(["AQ===", "A=Q", "a b", "AQID\n!", "%41"])("the base64 %j is refused", async (data) => {
  const files = new Attachments(() => ({}), never, new FileBudget(), loader().download);
  const sent = message(file(`data:image/png;base64,${data}`));
  await expect(files.check(sent)).rejects.toThrow(
    "input: the file image/png could not be loaded from its URL",
  );
});

test("a call that has ended gets its own reason, when it sends a file and when its history has one", async () => {
  const left = new AbortController();
  const reason = new Error("left");
  const download: Download = async () => {
    left.abort(reason);
    throw new Error("404");
  };
  const files = new Attachments(() => ({}), left.signal, new FileBudget(), download);
  const sent = message(file("https://a.example/x.png"));
  await expect(files.check(sent)).rejects.toBe(reason);
  await expect(files.resolve([sent])).rejects.toBe(reason);
});

test("a download has the address and the signal, and forgotten files leave the budget", async () => {
  const download = vi.fn<Download>(async () => ({ data: new Uint8Array([1]), mediaType: undefined }));
  const budget = new FileBudget();
  const restore = vi.spyOn(budget, "restore");
  const files = new Attachments(() => ({}), never, budget, download);
  await files.check(message(file("https://a.example/x.png")));
  expect(download.mock.calls).toEqual([[{ url: new URL("https://a.example/x.png"), abortSignal: never }]]);
  expect(restore).not.toHaveBeenCalled();
  files.forget();
  expect(restore).toHaveBeenCalledTimes(1);
});
