import type { UseQueryResult } from "@tanstack/react-query";
import type { UploadOut } from "@/api";
import { formatBytes, plural } from "@/lib/format";
import { Refused } from "@/ui/refused";

interface Props {
  digest: string;
  asked: UseQueryResult<UploadOut>;
}

/** What the job's code is, by its digest. */
export function UploadedCode({ digest, asked }: Props) {
  if (asked.error !== null) return <Refused error={asked.error} tried="The uploaded code was to be shown." retry={asked.refetch} />;
  const code = asked.data;
  return (
    <p className="small" role="status" data-testid="uploaded-code">
      {code === undefined ? "Asking the hub for the uploaded code …" : `${code.name}: ${plural(code.file_count, "file")}, ${formatBytes(code.size_bytes)} packed. `}
      <span className="quiet">
        SHA-256 <code className="mono" title={digest}>{digest.slice(0, 12)}…</code>
      </span>
    </p>
  );
}
