// The application with an exporter of OpenTelemetry's SDK 2.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { runApplication } from "./application.ts";
import { startCollector } from "./collector.ts";

const collector = await startCollector();
const exporter = new OTLPTraceExporter({ url: collector.url });
const seen = await runApplication({ processors: [new BatchSpanProcessor(exporter)] });
collector.close();
process.stdout.write(JSON.stringify({ ...seen, exported: collector.names }));
