// For Andante's own packages alone: it may change in any version.
export { type Example, exampleValue, type Wishes } from "./schema-example/example-value.ts";
export { splitPieces } from "./test-kit/split-pieces.ts";
export { withTimeout } from "./values/with-timeout.ts";
