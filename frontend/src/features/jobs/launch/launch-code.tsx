import { NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { useUploadedCode } from "@/api";
import type { Draft } from "../launch-draft";
import { text, type Fields } from "../launch-fields";
import { CodeDrop } from "./code-drop";
import { EarlierCode } from "./earlier-code";
import { UploadedCode } from "./uploaded-code";
import form from "../launch-form.module.css";

const ON_NODES = "a path on the nodes";
const UPLOADED = "uploaded here";
const LIST = "files-of-the-code";
/** More than that nobody reads through. */
const OFFERED = 500;

/** Where the code of the job comes from, and what of it is run. */
export function LaunchCode({ fields }: { fields: Fields }) {
  const { draft, set } = fields;
  const [wants, setWants] = useState(false);
  const isUploaded = draft.code !== "" || wants;
  const uploaded = useUploadedCode(draft.code);
  const choose = (word: string) => {
    setWants(word === UPLOADED);
    if (word === ON_NODES) set({ code: "" });
  };
  return (
    <>
      <div className={form.row}>
        <NativeSelect
          label="code"
          description={isUploaded ? "each node fetches it at the start" : "all nodes have it already"}
          data={[ON_NODES, UPLOADED]}
          value={isUploaded ? UPLOADED : ON_NODES}
          error={draft.code === "" ? undefined : fields.faults["code"]}
          onChange={(event) => choose(event.currentTarget.value)}
        />
        <TextInput
          label="script"
          description={isUploaded ? "its path in the uploaded code" : "its path on the nodes"}
          list={isUploaded ? LIST : undefined}
          {...text(fields, "script")}
        />
        <TextInput label="module" description="instead of a script, as python -m" {...text(fields, "module")} />
      </div>
      {isUploaded && (
        <>
          <CodeDrop onUploaded={(code) => set({ code: code.digest, ...programOf(draft, code) })} />
          <EarlierCode chosen={draft.code} onChoose={(code, script) => set({ code, ...scriptOf(draft, script) })} />
        </>
      )}
      {draft.code !== "" && <UploadedCode digest={draft.code} asked={uploaded} />}
      <datalist id={LIST}>
        {uploaded.data?.files.slice(0, OFFERED).map((path) => <option key={path} value={path} />)}
      </datalist>
    </>
  );
}

/** A path on the nodes means nothing in uploaded code; another one may be in it. */
function scriptOf(draft: Draft, script: string | null): Partial<Draft> {
  const typed = draft.script.trim();
  return draft.module.trim() !== "" || (typed !== "" && !typed.startsWith("/")) ? {} : another(draft, script);
}

/** What is typed stays where it can be run; else the file that is likely meant. */
function programOf(draft: Draft, code: { files: string[]; script: string | null }): Partial<Draft> {
  return draft.module.trim() !== "" || code.files.includes(draft.script.trim()) ? {} : another(draft, code.script);
}

/** Arguments and the name go with their script. */
function another(draft: Draft, script: string | null): Partial<Draft> {
  return { script: script ?? "", ...(draft.script.trim() !== "" && { args: "", name: "" }) };
}
