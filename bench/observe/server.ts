// The server of the socket benchmark, in a process of its own. Writes a thousand log lines a second when told to.
import { createLogger, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { three } from "../engine/workflows.ts";

const [file = ""] = process.argv.slice(2);
const logger = createLogger({ level: "error" });
const store = sqliteStore({ path: file });
const server = await serve({ workflows: { three }, store, logger, port: 0, grace: 0, handleSignals: false });

let noise: NodeJS.Timeout | undefined;
let written = 0;
process.on("message", (message) => {
  if (message === "noise") {
    noise = setInterval(() => {
      for (let each = 0; each < 10; each++)
        server.andante.logger.info(
          { workflowId: "three", n: ++written, text: "a line of usual length" },
          "noise",
        );
    }, 10);
  }
  if (message === "quiet") {
    clearInterval(noise);
    server.andante.logger.info({}, "last");
    process.send?.({ written });
  }
  if (message === "close")
    server.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
});
process.send?.({ url: server.url });
