import { serverNow } from "@/lib/clock";
import { formatAge, formatMoment } from "@/lib/format";
import { useTicking } from "./use-tick";

/** How long ago something was, ticking, by the hub's clock. */
export function Age({ at, suffix = "" }: { at: string; suffix?: string }) {
  const text = useTicking(() => formatAge((serverNow() - Date.parse(at)) / 1000));
  return (
    <time dateTime={at} title={formatMoment(at)} className="num">
      {text}
      {text === "now" ? "" : suffix}
    </time>
  );
}
