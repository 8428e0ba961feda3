// The resource of spans, from the environment variables that OpenTelemetry defines.
import type { Resource } from "./readable-span.ts";

/**
 * The resource of this process: the defaults of OpenTelemetry's SDK for a service without a name, then the attributes of
 * OTEL_RESOURCE_ATTRIBUTES, then the name of OTEL_SERVICE_NAME. `report` receives an error when the attributes cannot be
 * read: as OpenTelemetry defines it, none of them is used then.
 */
export function resourceFromEnvironment(
  environment: NodeJS.ProcessEnv,
  report: (error: Error) => void,
): Resource {
  const { OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: list = "" } = environment;
  let attributes: Readonly<Record<string, string>> = {};
  try {
    attributes = attributesIn(list);
  } catch (error) {
    report(new Error("OTEL_RESOURCE_ATTRIBUTES is ignored", { cause: error }));
  }
  return {
    attributes: {
      "service.name": `unknown_service:${process.argv0}`,
      "telemetry.sdk.language": "nodejs",
      "telemetry.sdk.name": "andante",
      ...attributes,
      ...(name && { "service.name": name }),
    },
  };
}

/** Pairs such as `deployment.environment=production,team=a%20b`; commas and equals signs in them are percent-encoded. */
function attributesIn(list: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const pair of list.split(",")) {
    if (pair.trim() === "") continue;
    const [key = "", value, ...more] = pair.split("=");
    if (key.trim() === "" || value === undefined || more.length > 0)
      throw new Error(`expected key=value pairs with commas between them, found "${pair}"`);
    attributes[decodeURIComponent(key.trim())] = decodeURIComponent(value.trim());
  }
  return attributes;
}
