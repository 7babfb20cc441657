/** Whether a variable of that name holds a secret, by the words it is made of: the rule of the hub's masking. */
const ENDS = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|PASSPHRASE|CREDENTIALS?|DSN)$/;
const WORDS = new Set(["PRIVATE", "AUTH", "AUTHORIZATION", "COOKIE", "PASS"]);

export function looksSecret(name: string): boolean {
  const parts = name.toUpperCase().split(/[^A-Z0-9]+/);
  return parts.some((part) => ENDS.test(part) || WORDS.has(part));
}
