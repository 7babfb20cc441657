/** The one door to the hub: questions, changes, the live socket and the names of their shapes. */
export * from "./changes";
export { Refusal } from "./client";
export * from "./find";
export { keys, type LogAddress } from "./keys";
export type { LiveStatus } from "./live";
export { LiveProvider } from "./live-provider";
export * from "./queries";
export type * from "./types";
export { useLiveStatus, useOutdated, useTopic } from "./use-live";
