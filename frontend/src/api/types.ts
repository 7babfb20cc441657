/** Names for the shapes of the API. They are generated; none is written by hand. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Me = Schemas["Me"];
export type JobIn = Schemas["JobIn"];
export type JobOut = Schemas["JobOut"];
export type JobSummary = Schemas["JobSummary"];
export type JobPage = Schemas["JobPage"];
export type WorkerOut = Schemas["WorkerOut"];
export type MemberOut = Schemas["MemberOut"];
export type FailureOut = Schemas["FailureOut"];
export type FaultIn = Schemas["FaultIn"];
export type CommandOut = Schemas["CommandOut"];
export type TimelineOut = Schemas["TimelineOut"];
export type RoundOut = Schemas["RoundOut"];
export type CauseOut = Schemas["CauseOut"];
export type ConsequenceOut = Schemas["ConsequenceOut"];
export type LaneOut = Schemas["LaneOut"];
export type RankLaneOut = Schemas["RankLaneOut"];
export type SpanOut = Schemas["SpanOut"];
export type MarkOut = Schemas["MarkOut"];
export type PhaseOut = Schemas["PhaseOut"];
export type WaterfallOut = Schemas["WaterfallOut"];
export type WaterfallRow = Schemas["WaterfallRow"];
export type ClockOut = Schemas["ClockOut"];
export type GoodputOut = Schemas["GoodputOut"];
export type GoodputPart = Schemas["GoodputPart"];
export type EventOut = Schemas["EventOut"];
export type EventPage = Schemas["EventPage"];
export type LogPage = Schemas["LogPage"];
export type LogLineOut = Schemas["LogLineOut"];
export type NodeOut = Schemas["NodeOut"];
export type NodePage = Schemas["NodePage"];
export type AttemptOut = Schemas["AttemptOut"];
export type DrainForecast = Schemas["DrainForecast"];
export type JobForecast = Schemas["JobForecast"];
export type SpecIn = Schemas["SpecIn"];
