// Callers of the endpoint that are not the Restate server whose key is given.
import { once } from "node:events";
import { connect } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../../examples/cluster/src/free-ports.ts";
import { shardName } from "../engine/objects.ts";
import { listen } from "./endpoint.ts";

/** The status of the response to a call without a signature. */
async function statusOf(identityKeys: readonly string[], path: string): Promise<number | undefined> {
  const port = await freePort();
  const stop = await listen(port, identityKeys);
  onTestFinished(stop);
  const session = connect(`http://127.0.0.1:${port}`);
  const accept = "application/vnd.restate.endpointmanifest.v4+json";
  const method = path === "/discover" ? "GET" : "POST";
  const request = session.request({ ":path": path, ":method": method, accept });
  request.on("error", () => undefined).end();
  const [headers]: { ":status"?: number }[] = await once(request, "response");
  session.destroy();
  return headers?.[":status"];
}

test("calls without a signature are refused when identity keys are given", async () => {
  const key = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f";
  expect(await statusOf([], "/discover")).toBe(200);
  expect(await statusOf([key], "/discover")).toBe(401);
  expect(await statusOf([key], `/invoke/${shardName}/write`)).toBe(401);
});
