// The public surface of @andante/restate.
export type { RestateStoreOptions } from "./options.ts";
export { restateStore } from "./restate-store.ts";
