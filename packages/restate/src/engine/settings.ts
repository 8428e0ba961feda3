// Settings and formats that all objects share.
import type { Serde } from "@restatedev/restate-sdk";

export const json: Serde<unknown> = {
  contentType: "application/json",
  serialize: (value) => Buffer.from(JSON.stringify(value)),
  deserialize: (bytes) => JSON.parse(Buffer.from(bytes).toString()),
};

export const objectSettings = {
  enableLazyState: true,
  // The result of a call is wanted while it is under way; behind that each write knows its repetition.
  idempotencyRetention: 0,
  journalRetention: 0,
  // A call that can never succeed must not block the others for good.
  retryPolicy: {
    maxAttempts: 20,
    onMaxAttempts: "kill",
    initialInterval: 50,
    maxInterval: 2_000,
    exponentiationFactor: 2,
  },
} as const;
