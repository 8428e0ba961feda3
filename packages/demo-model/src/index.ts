// The public surface of @andante/demo-model.
export { type DemoModelOptions, demoModel } from "./demo-model.ts";
