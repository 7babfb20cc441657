import { expect, test } from "vitest";
import { looksSecret } from "./secret-names";

test.each(["WANDB_API_KEY", "hf_token", "DB_PASSWORD", "PASSWD", "SENTRY_DSN", "HTTP_AUTH", "COOKIE", "APIKEY"])(
  "%s looks secret",
  (name) => {
    expect(looksSecret(name)).toBe(true);
  },
);

test.each(["", "TOKENIZERS_PARALLELISM", "EPOCHS", "AUTHOR", "KEYS_PER_NODE", "PATH"])("%s does not", (name) => {
  expect(looksSecret(name)).toBe(false);
});
