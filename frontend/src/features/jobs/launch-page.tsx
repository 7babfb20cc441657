import { useDocumentTitle } from "@mantine/hooks";
import { useSearchParams } from "wouter";
import { useExample, useJob, useMayOperate } from "@/api";
import { Notice } from "@/ui/notice";
import { Refused } from "@/ui/refused";
import { againFrom } from "./launch/launch-again";
import { LaunchForm } from "./launch-form";

/** A job in torchrun's words. Where the hub has an example at hand, the form is filled with it. */
export function LaunchPage() {
  useDocumentTitle("Launch a job · Regroup");
  const mayOperate = useMayOperate();
  const [params] = useSearchParams();
  const from = params.get("from") ?? "";
  const isAgain = /^\d+$/.test(from);
  const example = useExample(mayOperate && !isAgain);
  if (!mayOperate) return <Notice tone="grey">Launching needs the role operator; this account is a viewer.</Notice>;
  if (isAgain) return <LaunchAgain id={Number(from)} />;
  if (example.isPending) return <p className="quiet">Asking the hub for an example …</p>;
  return <LaunchForm start={example.data ?? null} />;
}

/** The form as a job was launched, to be changed and launched once more. */
function LaunchAgain({ id }: { id: number }) {
  const job = useJob(id);
  if (job.data !== undefined) return <LaunchForm key={id} start={againFrom(job.data)} again={id} />;
  if (job.error !== null) return <Refused error={job.error} tried={`Job ${id} was to be launched again.`} retry={job.refetch} />;
  return <p className="quiet">Asking the hub for job {id} …</p>;
}
