import type { CheckCell, ChecksOut } from "@/api";
import type { Look } from "@/lib/states";
import { StateWord } from "@/ui/state-word";
import table from "@/ui/table.module.css";
import classes from "./before-launch.module.css";

/** A row for each node, a cell for each check, and below what is not as it should be. */
export function ChecksFound({ told }: { told: ChecksOut }) {
  const notable = told.rows.flatMap((row) =>
    row.cells.filter(isNotable).map((cell) => ({ key: `${row.node} ${cell.check}`, node: row.node, cell })),
  );
  return (
    <>
      <p role="status">{told.says}</p>
      <div className={table.scroll} tabIndex={0} role="region" aria-label="What each node found">
        <table className={table.table}>
          <thead>
            <tr>
              <th>Node</th>
              {told.columns.map((column) => (
                <th key={column.check}>{column.title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {told.rows.map((row) => (
              <tr key={row.node}>
                <td>{row.node}</td>
                {row.cells.map((cell) => (
                  <td key={cell.check}>
                    <StateWord word={cell.verdict} look={{ ...LOOKS[cell.verdict], meaning: cell.says }} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {notable.length > 0 && (
        <ul className={classes["problems"]}>
          {notable.map(({ key, node, cell }) => (
            <li key={key}>
              <strong>{node}</strong>: {cell.says} {cell.what_to_do}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function isNotable(cell: CheckCell): boolean {
  return cell.verdict === "fail" || cell.verdict === "warn";
}

const LOOKS: Record<CheckCell["verdict"], Look> = {
  ok: { tone: "green", shape: "tick", meaning: "" },
  warn: { tone: "amber", shape: "triangle", meaning: "" },
  fail: { tone: "red", shape: "cross", meaning: "" },
  unknown: { tone: "grey", shape: "question", meaning: "" },
  running: { tone: "grey", shape: "dotted", meaning: "" },
};
