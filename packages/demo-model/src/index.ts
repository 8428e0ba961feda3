// The public surface of @andante/demo-model.
export { type DemoModel, type DemoModelOptions, demoModel } from "./demo-model.ts";
