// The application with an exporter of OpenTelemetry's SDK 3, and a resource of its own.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace";
import { runApplication } from "./application.ts";
import { startCollector } from "./collector.ts";

const collector = await startCollector();
const exporter = new OTLPTraceExporter({ url: collector.url });
const seen = await runApplication({
  processors: [new BatchSpanProcessor({ exporter })],
  resource: resourceFromAttributes({ "service.name": "application" }),
});
collector.close();
process.stdout.write(JSON.stringify({ ...seen, exported: collector.names }));
