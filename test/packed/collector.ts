// A collector of OpenTelemetry's protocol on loopback that keeps the names of the spans it is sent.
import { createServer } from "node:http";
import { z } from "zod";

const request = z.object({
  resourceSpans: z.array(
    z.object({
      scopeSpans: z.array(z.object({ spans: z.array(z.object({ name: z.string() })) })),
    }),
  ),
});

export async function startCollector() {
  const names: string[] = [];
  const server = createServer(async (incoming, response) => {
    const body = Buffer.concat(await incoming.toArray()).toString();
    const { resourceSpans } = request.parse(JSON.parse(body));
    const scopes = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans);
    names.push(...scopes.flatMap(({ spans }) => spans.map(({ name }) => name)));
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { names, url: `http://127.0.0.1:${port}/v1/traces`, close: () => server.close() };
}
