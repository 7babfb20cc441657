/** Which acts this browser's person chose lately, the newest first. Only their ids are kept. */

const PLACE = "regroup.recent";
const MOST = 12;

export function readRecent(): string[] {
  try {
    const held: unknown = JSON.parse(localStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(held) ? held.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}

export function remember(id: string): void {
  try {
    localStorage.setItem(PLACE, JSON.stringify([id, ...readRecent().filter((held) => held !== id)].slice(0, MOST)));
  } catch {
    // A browser that keeps nothing has no recent acts.
  }
}
