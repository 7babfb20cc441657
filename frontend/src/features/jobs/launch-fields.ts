/** What an input of the launch form needs to show a field of the draft and to change it. */
import type { ChangeEvent } from "react";
import type { Draft, NumberField, SwitchField, TextField } from "./launch-draft";

/** What the hub found wrong, by field. */
export type Faults = Record<string, string>;

export interface Fields {
  draft: Draft;
  faults: Faults;
  set: (change: Partial<Draft>) => void;
}

export function text({ draft, faults, set }: Fields, name: TextField) {
  return {
    value: draft[name],
    error: faults[name],
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
  };
}

export function number({ draft, faults, set }: Fields, name: NumberField) {
  return {
    value: draft[name] ?? "",
    error: faults[name],
    min: 0,
    allowDecimal: false,
    hideControls: true,
    onChange: (value: string | number) => set({ [name]: value === "" ? null : Number(value) }),
  };
}

export function seconds(fields: Fields, name: NumberField) {
  return { ...number(fields, name), allowDecimal: true };
}

/** `also`: what else changes when it is switched. */
export function onOff({ draft, faults, set }: Fields, name: SwitchField, also: (on: boolean) => Partial<Draft> = () => ({})) {
  return {
    checked: draft[name],
    error: faults[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) => {
      const on = event.currentTarget.checked;
      set({ ...also(on), [name]: on });
    },
  };
}
