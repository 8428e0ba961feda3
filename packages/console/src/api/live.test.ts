// The feed of changes under load: shown data is renewed, however much else has changed.
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => vi.unstubAllGlobals());

/** A feed of these events. */
function stubFeed(...events: readonly unknown[]): void {
  const text = [{ type: "open" }, ...events].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
  });
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/console/" });
  const headers = { "content-type": "text/event-stream" };
  vi.stubGlobal("fetch", async () => new Response(body, { headers }));
}

const changeOf = (executionId: string) => ({
  executionId,
  workflowId: "w",
  sequence: 1,
  timestamp: "2026-01-01T00:00:00.000Z",
});
const others = Array.from({ length: 499 }, (_, index) => changeOf(`other-${index}`));

test.each([
  ["named after hundreds of others", [...others, changeOf("shown")], 0],
  ["among those that are too many to name", others, 7],
])("an execution that is shown is read again when it is %s", async (_, executions, missed) => {
  stubFeed({ type: "changes", executions, missed });
  const { startLive } = await import("./live.ts");
  const client = new QueryClient();
  let reads = 0;
  const again = new Promise<void>((resolve) => {
    const queryFn = () => {
      reads += 1;
      if (reads === 2) resolve();
      return reads;
    };
    new QueryObserver(client, { queryKey: ["execution", "shown"], queryFn }).subscribe(() => undefined);
  });
  const end = startLive(client);
  await again;
  end();
  expect(reads).toBe(2);
  client.clear();
});
