/** The one table of state words: which shape and tone each has, and what it means. */

export type Tone = "grey" | "violet" | "blue" | "green" | "amber" | "orange" | "red";

export type Shape =
  | "dotted"
  | "quarter"
  | "half-right"
  | "half-left"
  | "three-quarters"
  | "full"
  | "loop"
  | "triangle"
  | "tick"
  | "cross"
  | "square"
  | "question";

export interface Look {
  shape: Shape;
  tone: Tone;
  meaning: string;
  /** Nobody knows, or nobody says: shown striped. */
  striped?: true;
}

export const JOB_STATES = {
  queued: { shape: "dotted", tone: "grey", meaning: "Not placed yet: too few slots are free." },
  waiting: { shape: "dotted", tone: "violet", meaning: "Waits for nodes to join the rendezvous." },
  forming: { shape: "quarter", tone: "violet", meaning: "The nodes agree on a new round." },
  starting: { shape: "half-right", tone: "blue", meaning: "The round is formed, its workers start." },
  training: { shape: "full", tone: "green", meaning: "The workers report progress." },
  running: {
    shape: "three-quarters",
    tone: "green",
    meaning: "The workers run and report no progress.",
  },
  finishing: {
    shape: "three-quarters",
    tone: "grey",
    meaning: "Some nodes are done and wait for the others.",
  },
  stalled: { shape: "half-left", tone: "amber", meaning: "Progress was reported and has ceased." },
  restarting: { shape: "loop", tone: "orange", meaning: "A worker failed or a node came or went: re-forming." },
  stopping: { shape: "triangle", tone: "grey", meaning: "Asked to stop; the workers are ending." },
  succeeded: { shape: "tick", tone: "green", meaning: "All workers ended with exit status 0." },
  failed: { shape: "cross", tone: "red", meaning: "The job ended because of a failure." },
  stopped: { shape: "square", tone: "grey", meaning: "Somebody stopped the job." },
  lost: { shape: "question", tone: "grey", striped: true, meaning: "None of its nodes is heard." },
  unknown: { shape: "question", tone: "grey", striped: true, meaning: "Nothing is known about it." },
} as const satisfies Record<string, Look>;

export type JobState = keyof typeof JOB_STATES;

export const ENDED: ReadonlySet<JobState> = new Set(["succeeded", "failed", "stopped", "lost"]);

export const NODE_STATES = {
  online: { shape: "full", tone: "green", meaning: "Heard within the last 3 s." },
  unheard: {
    shape: "question",
    tone: "grey",
    striped: true,
    meaning: "Silent for more than 3 s. Nothing is done to its jobs.",
  },
  lost: { shape: "cross", tone: "red", meaning: "Silent for more than 15 s." },
} as const satisfies Record<string, Look>;

export type NodeState = keyof typeof NODE_STATES;

/** A node that is heard and gets no jobs. */
export const NODE_SET_OUT = {
  draining: { shape: "triangle", tone: "grey", meaning: "It gets no more jobs, and those on it are moved away." },
  drained: { shape: "square", tone: "grey", meaning: "It gets no jobs, and nothing of any job is left on it." },
  "set aside": {
    shape: "half-left",
    tone: "amber",
    meaning: "It came and went too often, and gets no jobs until somebody says that it may be used again.",
  },
} as const satisfies Record<string, Look>;

/** Where one node of a job stands: the phase of its runner, or what matters more. */
export const MEMBER_STATES = {
  launching: { shape: "dotted", tone: "grey", meaning: "Its runner is being launched." },
  idle: { shape: "dotted", tone: "grey", meaning: "Its runner has started and gets ready." },
  rendezvous: { shape: "quarter", tone: "violet", meaning: "It waits in the rendezvous for a round to form." },
  formed: { shape: "quarter", tone: "violet", meaning: "Its round is formed." },
  starting: { shape: "half-right", tone: "blue", meaning: "Its workers start." },
  up: { shape: "full", tone: "green", meaning: "Its workers run." },
  restarting: { shape: "loop", tone: "orange", meaning: "Its workers are ended to start again." },
  "starting again": { shape: "loop", tone: "orange", meaning: "Its last runner ended; another one starts." },
  finishing: { shape: "three-quarters", tone: "grey", meaning: "Its workers are done; it waits for the others." },
  spare: { shape: "dotted", tone: "violet", meaning: "It stands by: the round is full." },
  leaving: { shape: "triangle", tone: "grey", meaning: "It leaves the job, and the others go on without it." },
  left: { shape: "square", tone: "grey", meaning: "It has left the job, and the others went on." },
  gone: {
    shape: "cross",
    tone: "red",
    meaning: "It is not heard, and the others formed a round without it.",
  },
  succeeded: { shape: "tick", tone: "green", meaning: "All its workers ended with exit status 0." },
  failed: { shape: "cross", tone: "red", meaning: "Its runner ended because of a failure." },
  stopped: { shape: "square", tone: "grey", meaning: "Its runner was told to stop." },
  unknown: { shape: "question", tone: "grey", striped: true, meaning: "How its runner ended is not known." },
} as const satisfies Record<string, Look>;

export type MemberState = keyof typeof MEMBER_STATES;

export const WORKER_STATES = {
  running: { shape: "full", tone: "green", meaning: "The process is alive." },
  cause: { shape: "cross", tone: "red", meaning: "It failed by itself." },
  peer_lost: { shape: "loop", tone: "orange", meaning: "It lost its connection to a worker that had gone." },
  stopped: { shape: "square", tone: "grey", meaning: "Its runner ended it." },
  finished: { shape: "tick", tone: "green", meaning: "It ended with exit status 0." },
  unknown: { shape: "question", tone: "grey", striped: true, meaning: "How it ended is not known." },
} as const satisfies Record<string, Look>;

export type WorkerState = keyof typeof WORKER_STATES;

export const WORKER_WORDS: Record<WorkerState, string> = {
  running: "running",
  cause: "failed",
  peer_lost: "peer lost",
  stopped: "ended",
  finished: "finished",
  unknown: "unknown",
};

/** Phases of one node in a round, as the timeline draws them. */
export const PHASES = {
  launching: { tone: "grey", fill: "hatch", meaning: "launching the runner" },
  idle: { tone: "grey", fill: "hatch", meaning: "runner starting" },
  rendezvous: { tone: "violet", fill: "pale", meaning: "rendezvous" },
  formed: { tone: "violet", fill: "solid", meaning: "round formed" },
  starting: { tone: "blue", fill: "solid", meaning: "workers starting" },
  up: { tone: "green", fill: "solid", meaning: "workers up" },
  restarting: { tone: "orange", fill: "solid", meaning: "restarting" },
  finishing: { tone: "green", fill: "pale", meaning: "done here, waits for the others" },
} as const satisfies Record<string, { tone: Tone; fill: "solid" | "pale" | "hatch"; meaning: string }>;

export type Phase = keyof typeof PHASES;
