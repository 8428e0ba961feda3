// A hundred socket clients in a process of their own; they count the lines that reach them, up to the last.
const [url = "", count = "100"] = process.argv.slice(2);

const tally = { messages: 0, lines: 0 };

/** Resolves when the last line has come, or the connection has gone. */
function listen(opened: () => void): Promise<void> {
  const client = new WebSocket(`${url.replace("http", "ws")}/ws/logs`);
  client.addEventListener("open", opened);
  return new Promise((resolve) => {
    client.addEventListener("close", () => resolve());
    client.addEventListener("message", ({ data }) => {
      const text = String(data);
      tally.messages++;
      // Parsing would measure this process, not the server.
      tally.lines += text.split('"msg":"noise"').length - 1;
      if (text.includes('"msg":"last"')) resolve();
    });
  });
}

let open = 0;
const done = Array.from({ length: Number(count) }, () =>
  listen(() => {
    if (++open === Number(count)) process.send?.("open");
  }),
);
await Promise.all(done);
process.send?.(tally, () => process.exit(0));
