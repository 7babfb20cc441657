/** Picked ranks as the address holds them: "1,3,12". Pure. */

export function pickedRanks(text: string | null): ReadonlySet<number> {
  return new Set((text ?? "").split(",").filter((part) => /^\d{1,6}$/.test(part)).map(Number));
}

export function toggled(text: string | null, rank: number): string {
  const ranks = new Set(pickedRanks(text));
  if (!ranks.delete(rank)) ranks.add(rank);
  return [...ranks].sort((a, b) => a - b).join(",");
}
