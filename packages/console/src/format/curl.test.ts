// A call as a shell command: the words that the shell parses.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { curlCommand } from "./curl.ts";

/** Runs the command with printf in place of curl, and returns its words. */
const wordsOf = (command: string) =>
  execFileSync("sh", ["-c", command.replace("curl", "printf '%s\\0'")], {
    encoding: "utf8",
    env: { TOKEN: "secret" },
  })
    .split("\0")
    .slice(0, -1);

test("the address and the body reach the server unchanged, with any characters", () => {
  const address = "http://127.0.0.1:3000/workflows/it's%20$HOME`id`/execute?a=1&b=2";
  const body = { input: { text: `it's "$HOME" \`id\` \\ ; rm\nnext ''` } };
  const words = wordsOf(curlCommand(address, { body, hasToken: true }));
  expect(words.slice(0, 4)).toEqual(["-s", address, "-H", "Authorization: Bearer secret"]);
  expect(words.slice(4, 7)).toEqual(["-H", "Content-Type: application/json", "-d"]);
  expect(JSON.parse(words[7] ?? "")).toEqual(body);
});

test("without a token and a body there is the address alone", () => {
  expect(curlCommand("http://127.0.0.1/a", { hasToken: false })).toBe("curl -s 'http://127.0.0.1/a'");
});
