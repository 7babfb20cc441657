/** The one door to the hub: questions, changes, the live socket and the names of their shapes. */
export * from "./before-launch";
export * from "./changes";
export { Refusal } from "./client";
export * from "./evidence";
export * from "./faults";
export * from "./find";
export { keys, type JobFilters, type LogAddress, type LogPlace } from "./keys";
export * from "./many";
export type { LiveStatus } from "./live";
export { LiveProvider } from "./live-provider";
export { linesOf, nameOf, olderFrom, type LogWindow } from "./log-window";
export * from "./logs";
export * from "./metrics";
export * from "./queries";
export * from "./torchrun";
export * from "./stalls";
export type * from "./types";
export { useLiveStatus, useOutdated, useTopic } from "./use-live";
