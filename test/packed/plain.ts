// The application with no exporter.
import { runApplication } from "./application.ts";

process.stdout.write(JSON.stringify(await runApplication()));
