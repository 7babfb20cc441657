/** What the command palette lists for a text, and in which order. Pure. */
import type { Act } from "@/ui/acts";

export interface Section {
  title: string;
  acts: Act[];
}

/** Of each section; who looks for more types more. */
const MOST = 8;
const MOST_UNTYPED = 12;
const MOST_RECENT = 4;

/** Without a text: what was chosen lately, then some of each section. With one: what it finds, the best first. */
export function sectionsFor(sections: readonly Section[], text: string, recent: readonly string[]): Section[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (words.length === 0 ? untyped(sections, recent) : found(sections, words)).filter(({ acts }) => acts.length > 0);
}

function untyped(sections: readonly Section[], recent: readonly string[]): Section[] {
  const byId = new Map(sections.flatMap(({ acts }) => acts.map((act) => [act.id, act])));
  const again = recent.flatMap((id) => byId.get(id) ?? []).slice(0, MOST_RECENT);
  const rest = sections.map(({ title, acts }) => ({
    title,
    acts: harmlessFirst(acts.filter((act) => !again.includes(act))).slice(0, MOST_UNTYPED),
  }));
  return [{ title: "Lately", acts: again }, ...rest];
}

/** What ends something is never what Enter does at once. */
function harmlessFirst(acts: Act[]): Act[] {
  return [...acts.filter((act) => !act.isDanger), ...acts.filter((act) => act.isDanger)];
}

function found(sections: readonly Section[], words: string[]): Section[] {
  const scored = sections.map(({ title, acts }) => {
    const hits = acts.map((act) => ({ act, score: scoreOf(act, words) })).filter(({ score }) => score > 0);
    hits.sort((a, b) => b.score - a.score);
    return { title, acts: hits.slice(0, MOST).map(({ act }) => act), best: hits[0]?.score ?? 0 };
  });
  return scored.sort((a, b) => b.best - a.best);
}

/** The more each word of the text is a word of the act, the better; 0 when one of them is nowhere in it. */
function scoreOf({ says, note }: Act, words: string[]): number {
  const text = `${says} ${note ?? ""}`.toLowerCase();
  const own = text.split(/[\s,]+/);
  const scores = words.map((word) => {
    if (own.includes(word)) return 3;
    if (own.some((each) => each.startsWith(word))) return 2;
    return text.includes(word) ? 1 : 0;
  });
  return scores.some((score) => score === 0) ? 0 : scores.reduce<number>((sum, score) => sum + score, 0);
}
