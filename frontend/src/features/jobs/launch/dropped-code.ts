/** Files as a browser gives them, dropped or chosen, as code to send: with their paths in the folder they are of. */
import type { CodeToSend } from "@/api";
import { formatBytes, formatCount } from "@/lib/format";

/** As on the hub: they are large, or differ each time, and no job reads them. */
const NOT_CODE = new Set([".git", "__pycache__", "__MACOSX", ".DS_Store"]);

/** The hub's limits: what it would refuse is not sent first. */
const MOST_BYTES = 64 * 2 ** 20;
const MOST_FILES = 5000;
const ELSEWHERE = "Data and checkpoints belong where all nodes can read them.";
export const LIMITS = `At most ${formatBytes(MOST_BYTES)} and ${formatCount(MOST_FILES)} files. ${ELSEWHERE}`;

export interface Picked {
  code: CodeToSend;
  /** How many files are not sent, as they are no code. */
  leftOut: number;
}

/** From an input: of a folder each file has the path that begins with the folder's name. */
export function chosen(files: readonly File[]): Picked | null {
  return picked(files.map((file) => ({ path: file.webkitRelativePath || file.name, file })));
}

/** From a drop: folders are walked through. It has to be called in the event itself. */
export async function dropped(transfer: DataTransfer): Promise<Picked | null> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return picked((await Promise.all(entries.map(walk))).flat());
}

export function picked(files: CodeToSend["files"]): Picked | null {
  const code = files.filter(({ path }) => !path.split("/").some((part) => NOT_CODE.has(part)));
  const first = code[0];
  if (first === undefined) return null;
  const top = commonFolder(code.map(({ path }) => path));
  const within = code.map(({ path, file }) => ({ path: path.slice(top.length), file }));
  const name = top === "" ? (code.length === 1 ? first.path : `${code.length} files`) : top.slice(0, -1);
  return { code: { name, files: within }, leftOut: files.length - code.length };
}

/** Why the hub would not take it; null where nothing is known against it. */
export function tooLarge({ name, files }: CodeToSend): Error | null {
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  if (size > MOST_BYTES) return new Error(`${name} has ${formatBytes(size)}, and ${formatBytes(MOST_BYTES)} are the most. ${ELSEWHERE}`);
  if (files.length <= MOST_FILES) return null;
  return new Error(`${name} has ${formatCount(files.length)} files, and ${formatCount(MOST_FILES)} are the most. Pack them as a zip, or leave some out.`);
}

/** The one folder that all of it is in, with its slash; empty where there is none. */
function commonFolder(paths: string[]): string {
  const first = paths[0] ?? "";
  const top = first.slice(0, first.indexOf("/") + 1);
  return top !== "" && paths.every((path) => path.startsWith(top)) ? top : "";
}

async function walk(entry: FileSystemEntry): Promise<CodeToSend["files"]> {
  if (NOT_CODE.has(entry.name)) return [];
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    return [{ path: entry.fullPath.replace(/^\//, ""), file }];
  }
  const within = await allOf((entry as FileSystemDirectoryEntry).createReader());
  return (await Promise.all(within.map(walk))).flat();
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

/** A reader gives a hundred at a time, and none at the end. */
async function allOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    found.push(...some);
  }
}
