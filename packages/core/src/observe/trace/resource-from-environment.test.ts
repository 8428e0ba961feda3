// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES set the resource of the spans.
import { expect, test, vi } from "vitest";
import { resourceFromEnvironment } from "./resource-from-environment.ts";

const read = (environment: NodeJS.ProcessEnv) => {
  const report = vi.fn<(error: Error) => void>();
  return { attributes: resourceFromEnvironment(environment, report).attributes, report };
};
const own = { "telemetry.sdk.language": "nodejs", "telemetry.sdk.name": "andante" };
const unnamed = { ...own, "service.name": `unknown_service:${process.argv0}` };

test.each<[string, NodeJS.ProcessEnv, object]>([
  ["nothing", {}, unnamed],
  ["empty variables", { OTEL_SERVICE_NAME: "", OTEL_RESOURCE_ATTRIBUTES: "" }, unnamed],
  ["a name", { OTEL_SERVICE_NAME: "desk" }, { ...own, "service.name": "desk" }],
  [
    "attributes",
    { OTEL_RESOURCE_ATTRIBUTES: "service.name=a, deployment.environment.name=live ,team=x%2Cy%3D z," },
    { ...own, "service.name": "a", "deployment.environment.name": "live", team: "x,y= z" },
  ],
  [
    "both: the name of its own variable wins",
    { OTEL_SERVICE_NAME: "desk", OTEL_RESOURCE_ATTRIBUTES: "service.name=a,service.version=2" },
    { ...own, "service.name": "desk", "service.version": "2" },
  ],
])("%s", (_, environment, expected) => {
  const { attributes, report } = read(environment);
  expect(attributes).toEqual(expected);
  expect(report).not.toHaveBeenCalled();
});

test.each(["a", "=b", "a=b=c", "good=1,a=%E0%A4%A"])("%s is reported, and none of it is used", (list) => {
  const { attributes, report } = read({ OTEL_SERVICE_NAME: "desk", OTEL_RESOURCE_ATTRIBUTES: list });
  expect(attributes).toEqual({ ...own, "service.name": "desk" });
  expect(report).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ message: "OTEL_RESOURCE_ATTRIBUTES is ignored" }),
  );
});
