/** The end of a switch over a closed set: the compiler refuses it when a member is missing. */
export function never(value: never): never {
  throw new Error(`not a known value: ${JSON.stringify(value)}`);
}
