import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { memo, useEffect, useRef, useState } from "react";
import { useKeys } from "./use-keys";

interface Props {
  label: string;
  placeholder: string;
  /** What is searched for now. */
  value: string;
  onChange: (value: string) => void;
}

const PAUSE_MS = 250;

/** A field to search in what is listed below; the key "/" leads to it, Escape empties it. */
export const SearchField = memo(function SearchField({ label, placeholder, value, onChange }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const told = useRef(value);
  const [text, setText] = useState(value);
  const tell = useDebouncedCallback((next: string) => {
    told.current = next;
    onChange(next);
  }, PAUSE_MS);
  // Somebody else may change it: a link that shows everything, the browser's way back.
  useEffect(() => {
    if (told.current === value) return;
    told.current = value;
    setText(value);
  }, [value]);
  useKeys({ "/": () => field.current?.focus() });
  const type = (next: string) => {
    setText(next);
    tell(next);
  };
  return (
    <TextInput
      ref={field}
      size="xs"
      w={240}
      type="search"
      placeholder={`${placeholder}  /`}
      aria-label={label}
      value={text}
      onChange={(event) => type(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Escape" && text !== "") type("");
      }}
    />
  );
});
