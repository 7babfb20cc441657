import { Button } from "@mantine/core";
import { useState } from "react";
import { useRemoveCode, useUploads, type UploadItem } from "@/api";
import { formatBytes, plural } from "@/lib/format";
import { ActDialog } from "@/ui/act-dialog";
import { Age } from "@/ui/age";
import { Refused } from "@/ui/refused";
import table from "@/ui/table.module.css";
import classes from "./code-drop.module.css";

interface Props {
  /** The digest that the form names. */
  chosen: string;
  onChoose: (digest: string, script: string | null) => void;
}

/** What the same person has uploaded before: taken again, or removed. */
export function EarlierCode({ chosen, onChoose }: Props) {
  const uploads = useUploads();
  const [leaving, setLeaving] = useState<UploadItem | null>(null);
  const items = uploads.data?.items ?? [];
  if (uploads.error !== null) return <Refused error={uploads.error} tried="Earlier uploads were to be listed." retry={uploads.refetch} />;
  if (items.length === 0) return null;
  return (
    <details className={classes.earlier}>
      <summary>{plural(items.length, "earlier upload")} of yours</summary>
      <div className={table.scroll} tabIndex={0} role="region" aria-label="Earlier uploads">
        <table className={table.table}>
          <thead>
            <tr>
              <th>Name</th>
              <th className={table.num}>Files</th>
              <th className={table.num}>Packed</th>
              <th className={table.num}>Age</th>
              <th>Used by</th>
              <th>
                <span className="visually-hidden">Act</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((one) => (
              <tr key={one.digest} aria-selected={one.digest === chosen || undefined}>
                <td className={table.cut} title={one.digest}>
                  {one.name} <code className="mono quiet small">{one.digest.slice(0, 8)}</code>
                </td>
                <td className={table.num}>{one.file_count}</td>
                <td className={table.num}>{formatBytes(one.size_bytes)}</td>
                <td className={table.num}>
                  <Age at={one.uploaded_at} />
                </td>
                <td>{usedText(one)}</td>
                <td className={classes.acts}>
                  <Button
                    size="compact-xs"
                    variant="default"
                    disabled={one.digest === chosen}
                    aria-label={`Use ${one.name} ${one.digest.slice(0, 8)}`}
                    onClick={() => onChoose(one.digest, one.script)}
                  >
                    {one.digest === chosen ? "In use here" : "Use"}
                  </Button>
                  <Button
                    size="compact-xs"
                    variant="default"
                    disabled={one.used_by.length > 0}
                    aria-label={`Remove ${one.name} ${one.digest.slice(0, 8)}`}
                    onClick={() => setLeaving(one)}
                  >
                    Remove
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {leaving !== null && (
        <RemoveDialog
          code={leaving}
          onClose={() => setLeaving(null)}
          onRemoved={() => leaving.digest === chosen && onChoose("", null)}
        />
      )}
    </details>
  );
}

function usedText({ used_by: jobs }: UploadItem) {
  if (jobs.length === 0) return <span className="quiet">no job that is not over</span>;
  return jobs.length > 3 ? plural(jobs.length, "job") : jobs.map((id) => `job ${id}`).join(", ");
}

function RemoveDialog({ code, onClose, onRemoved }: { code: UploadItem; onClose: () => void; onRemoved: () => void }) {
  const remove = useRemoveCode();
  return (
    <ActDialog
      act="Remove the upload"
      forecast={<p>{code.name} is removed from the hub. Jobs that had it cannot be launched again without it.</p>}
      asked={remove}
      onAct={() => remove.mutate(code.digest, { onSuccess: onRemoved })}
      tried={`${code.name} is not removed.`}
      onClose={onClose}
      takesReason={false}
      isDanger
    >
      <p role="status">{code.name} is removed.</p>
    </ActDialog>
  );
}
