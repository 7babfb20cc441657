import type { UsageOut } from "@/api";

const MOST = 3;

/** Below the workers: who is slower than the others, and whose use is not known. */
export function UsageNotes({ usage }: { usage: UsageOut }) {
  const { stragglers, silent } = usage;
  const unknown = silent.length === 0 ? "" : `What the workers on ${silent.slice(0, MOST).join(", ")}${silent.length > MOST ? " …" : ""} use is not known.`;
  const notes = [...stragglers.slice(0, MOST), unknown].filter((note) => note !== "");
  return (
    <div role="status">
      {notes.map((note) => (
        <p key={note} className="quiet small">
          {note}
        </p>
      ))}
    </div>
  );
}
