import { useDocumentTitle } from "@mantine/hooks";
import { useExample, useMayOperate } from "@/api";
import { Notice } from "@/ui/notice";
import { LaunchForm } from "./launch-form";

/** A job in torchrun's words. Where the hub has an example at hand, the form is filled with it. */
export function LaunchPage() {
  useDocumentTitle("Launch a job · Regroup");
  const mayOperate = useMayOperate();
  const example = useExample(mayOperate);
  if (!mayOperate) return <Notice tone="grey">Launching needs the role operator; this account is a viewer.</Notice>;
  if (example.isPending) return <p className="quiet">Asking the hub for an example …</p>;
  return <LaunchForm start={example.data ?? null} />;
}
