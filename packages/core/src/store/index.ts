// The public surface of @andante/core/store: the contract between Andante and a store, for authors of stores.
// A store that passes `describeStore` of @andante/core/store-cases keeps it.
export type * from "./approval-store.ts";
export * from "./budget-store.ts";
export type * from "./cluster-channel.ts";
export type * from "./conversation-store.ts";
export * from "./decide/index.ts";
export { type FactChange, type FactStore, type FactSubject, type KeptFact, maxFacts } from "./fact-store.ts";
export { type ClaimedRow, hasLost } from "./has-lost.ts";
export { inTime } from "./in-time.ts";
export type * from "./observation-store.ts";
export * from "./rollup-store.ts";
export * from "./schedule-store.ts";
export type * from "./search-store.ts";
export type * from "./signal-store.ts";
export {
  type EventFields,
  fieldsAt,
  numbered,
  readRow,
  readWholeRow,
  referenceOf,
  rowText,
} from "./sql/journal-row.ts";
export type { SqliteStoreOptions } from "./sqlite/sqlite-store.ts";
export type * from "./store.ts";
export {
  type NewStoredEvent,
  type SameValue,
  type StoredEvent,
  type StoredJson,
  storedBytes,
  storedLength,
  type WrittenEvent,
} from "./stored-event.ts";
export type * from "./suspension.ts";
export { childWaitOf, isChildWait, waitsForPerson } from "./suspension.ts";
export { maxPageLength, textLength } from "./text-length.ts";
export { cacheWritesOf, moneyColumns, nothingUsed, sumUsage, usageDetails, usageSince } from "./usage.ts";
export * from "./usage-store.ts";
