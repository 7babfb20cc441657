import { Link } from "wouter";
import { Empty } from "@/ui/empty";

export function NotFound() {
  return (
    <Empty title="There is no page at this address.">
      <p>
        The jobs are at <Link href="/jobs">/jobs</Link>, the nodes at <Link href="/nodes">/nodes</Link>.
      </p>
    </Empty>
  );
}
