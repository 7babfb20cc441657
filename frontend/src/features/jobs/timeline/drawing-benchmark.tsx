/** Measures the timeline in a browser, with as many ranks and rounds as it is built for. No part of the page. */
import "@mantine/core/styles.css";
import "@/app/colours.css";
import "@/app/global.css";
import { MantineProvider } from "@mantine/core";
import { useRef } from "react";
import { createRoot } from "react-dom/client";
import type { LaneOut, MarkOut, RankLaneOut, RoundOut, TimelineOut } from "@/api";
import { pictureOf, type Picture } from "./picture";
import { Stage } from "./stage";
import { TimelineCanvas } from "./timeline-canvas";
import { usePlace } from "./use-place";

const [NODES, RANKS_OF_EACH, ROUNDS] = [125, 8, 100];
const BEGAN = Date.parse("2026-11-30T12:00:00Z");
const ROUND_MS = 180_000;
const NOW = BEGAN + ROUNDS * ROUND_MS;
const PAN_S = 3;
const DRAWS = 60;

const nodes = Array.from({ length: NODES }, (_, index) => `node-${String(index + 1).padStart(3, "0")}`);

function iso(round: number, ms: number): string {
  return new Date(BEGAN + round * ROUND_MS + ms).toISOString();
}

function perRound<T>(make: (index: number) => T): T[] {
  return Array.from({ length: ROUNDS }, (_, index) => make(index));
}

function aRound(index: number): RoundOut {
  const told = { cause: null, consequences: [], charged: null, why: "", resumed_step: null, steps_redone: null };
  const way = { phases: [], recovery_s: null, unaccounted_s: null };
  const what = { attempt: 1, number: index + 1, world_size: NODES * RANKS_OF_EACH, nodes, formed_at: iso(index, 1500) };
  return { ...what, restart: index === 0 ? "start" : "failure", ...told, ...way };
}

function aLane(node: string): LaneOut {
  const phases = [["rendezvous", 0, 1500], ["starting", 1500, 2600], ["up", 2600, 179_000], ["restarting", 179_000, 180_000]] as const;
  const spans = perRound((index) =>
    phases.map(([phase, from, to]) => ({ phase, round: index + 1, began_at: iso(index, from), ended_at: iso(index, to) })),
  );
  return { node, spans: spans.flat() };
}

function aRankLane(node: string, rank: number): RankLaneOut {
  const state = (index: number) => (index === ROUNDS - 1 ? "running" : index % 1000 === rank ? "cause" : rank % 3 === 0 ? "stopped" : "peer_lost");
  const spans = perRound((index) => ({
    attempt: 1,
    round: index + 1,
    state: state(index),
    began_at: iso(index, 1600),
    ended_at: index === ROUNDS - 1 ? null : iso(index, 178_500 + (rank % 500)),
  })) as RankLaneOut["spans"];
  return { node, rank, spans };
}

function marks(): MarkOut[] {
  const of = (index: number) => ({ node: nodes[index % NODES] as string, rank: null, round: index + 1, says: "", by: "" });
  const failures = perRound((index): MarkOut => ({ kind: "failure", at: iso(index, 178_400), ...of(index) }));
  const checkpoints = perRound((index): MarkOut[] =>
    [30, 60, 90, 120, 150].map((s) => ({ kind: "checkpoint", at: iso(index, 1000 * s), ...of(0) })),
  );
  return [...failures, ...checkpoints.flat()];
}

function answer(): { timeline: TimelineOut; ranks: RankLaneOut[] } {
  const lanes = nodes.map(aLane);
  const ranks = nodes.flatMap((node, of) => Array.from({ length: RANKS_OF_EACH }, (_, local) => aRankLane(node, RANKS_OF_EACH * of + local)));
  const timeline = { began_at: iso(0, 0), now: new Date(NOW).toISOString(), ended_at: null, rounds: perRound(aRound), lanes, marks: marks(), typical: {} };
  return { timeline, ranks };
}

let renders = 0;

function Measured({ stage, picture }: { stage: Stage; picture: Picture }) {
  renders += 1;
  const box = useRef<HTMLDivElement>(null);
  const place = usePlace(picture.rounds);
  return <TimelineCanvas stage={stage} picture={picture} place={place} end={NOW} look="live" boxRef={box} onOpenCard={() => undefined} />;
}

function frame(): Promise<number> {
  return new Promise((resolve) => requestAnimationFrame(resolve));
}

function timed(act: () => void): number {
  const before = performance.now();
  act();
  return performance.now() - before;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

/** Drawing is put off until somebody looks at the pixels. */
function flush(canvas: HTMLCanvasElement): void {
  canvas.getContext("2d")?.getImageData(0, 0, 1, 1);
}

async function pan(box: Element): Promise<{ frames: number; seconds: number }> {
  const begun = performance.now();
  let frames = 0;
  while (performance.now() - begun < 1000 * PAN_S) {
    const deltaX = Math.floor(frames / 60) % 2 === 0 ? -24 : 24;
    box.dispatchEvent(new WheelEvent("wheel", { deltaX, bubbles: true, cancelable: true }));
    await frame();
    frames += 1;
  }
  return { frames, seconds: (performance.now() - begun) / 1000 };
}

async function measure(): Promise<Record<string, unknown>> {
  const { timeline, ranks } = answer();
  const stage = new Stage();
  let picture: Picture | undefined;
  const prepared = timed(() => {
    picture = pictureOf({ timeline, ranks, open: new Set(nodes), silence: new Map() });
  });
  if (picture === undefined) throw new Error("nothing was prepared");
  createRoot(document.getElementById("root") as HTMLElement).render(
    <MantineProvider>
      <Measured stage={stage} picture={picture} />
    </MantineProvider>,
  );
  while (document.querySelector("canvas")?.width !== Math.round(innerWidth * devicePixelRatio)) await frame();
  const canvas = document.querySelector("canvas") as HTMLCanvasElement;
  stage.show({ range: "all" });
  // All rounds, and another part of the lanes each time.
  const draws = Array.from({ length: DRAWS }, (_, index) => {
    stage.scroll((index / DRAWS) * (picture?.height ?? 0));
    return timed(() => {
      stage.drawNow();
      flush(canvas);
    });
  });
  stage.show({ range: "1h" });
  const box = document.querySelector("[role=group]") as Element;
  await frame();
  renders = 0;
  const { frames, seconds } = await pan(box);
  const round = (ms: number) => Math.round(10 * ms) / 10;
  return {
    case: "timeline-drawing",
    ranks: NODES * RANKS_OF_EACH,
    rounds: ROUNDS,
    spans: ranks.length * ROUNDS,
    width_px: innerWidth,
    prepare_ms: round(prepared),
    draw_ms: { median: round(median(draws)), max: round(Math.max(...draws)) },
    frames_per_s: round(frames / seconds),
    renders_while_panning: renders,
  };
}

Object.assign(window, { measure });
