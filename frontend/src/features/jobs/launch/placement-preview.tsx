import { useDebouncedValue } from "@mantine/hooks";
import { Refusal, usePreview, type JobIn } from "@/api";
import classes from "./before-launch.module.css";

/** Where the job would run if it were launched now, or why it would wait; asked as one types. */
export function PlacementPreview({ job }: { job: JobIn | null }) {
  const [asked] = useDebouncedValue(job === null ? null : JSON.stringify(job), 400);
  const preview = usePreview(asked === null ? null : (JSON.parse(asked) as JobIn));
  return (
    <section className={classes["preview"]} aria-label="Where it would run" aria-live="polite">
      {said(preview)}
    </section>
  );
}

function said({ data, error, isPlaceholderData }: ReturnType<typeof usePreview>) {
  // A field that makes no sense yet: what the hub says of it is shown here, and at the field after the launch.
  if (error !== null) return <p className="quiet">{error instanceof Refusal ? error.sentence : error.message}</p>;
  if (data === undefined) return <p className="quiet">Where it would run is told here.</p>;
  return (
    <>
      <p data-stale={isPlaceholderData || undefined}>{data.says}</p>
      {data.in_the_way.length > 0 && (
        <details>
          <summary>{data.in_the_way.length === 1 ? "1 thing" : `${data.in_the_way.length} things`} in the way</summary>
          <ul>
            {data.in_the_way.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
