import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { askAgain, waitOf } from "./ask-again";

test("what is new after a while of quiet is asked for at once, and then no two times within the pause", () => {
  const before = { version: 1, at: 1000 };
  expect(waitOf(undefined, { version: 1, at: 1000 }, 2000)).toBe(0);
  expect(waitOf(before, { version: 2, at: 9000 }, 2000)).toBe(0);
  expect(waitOf(before, { version: 2, at: 1500 }, 2000)).toBe(1500);
  expect(waitOf(before, { version: 1, at: 9000 }, 2000)).toBe(null);
});

test("an answer that is on its way is let come, and then it is asked once more", async () => {
  const cache = new QueryClient();
  const answers: ((text: string) => void)[] = [];
  const queryFn = () => new Promise<string>((answer) => answers.push(answer));
  const observer = new QueryObserver(cache, { queryKey: ["timeline"], queryFn });
  observer.subscribe(() => undefined);
  const done = askAgain(cache, ["timeline"]);
  expect(answers).toHaveLength(1);
  answers[0]?.("old");
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.("new");
  await done;
  expect(observer.getCurrentResult().data).toBe("new");
});
