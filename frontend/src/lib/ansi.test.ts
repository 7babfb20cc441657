import { describe, expect, it } from "vitest";
import { piecesOf, plainText } from "./ansi";

const ESC = "\x1b";

describe("what a line looks like", () => {
  it("is the same where nothing is to be taken out", () => {
    expect(piecesOf("loss 2.5\tok")).toEqual([{ text: "loss 2.5\tok", look: {} }]);
  });

  it("has the sixteen colours, 256 colours and any colour", () => {
    const line = `${ESC}[31mred${ESC}[0m ${ESC}[1;92mgreen${ESC}[22;39m ${ESC}[38;5;208morange${ESC}[48;2;1;2;255mon blue`;
    expect(piecesOf(line)).toEqual([
      { text: "red", look: { ink: 1 } },
      { text: " ", look: {} },
      { text: "green", look: { ink: 10, bold: true } },
      { text: " ", look: {} },
      { text: "orange", look: { ink: "#ff8700" } },
      { text: "on blue", look: { ink: "#ff8700", paper: "#0102ff" } },
    ]);
  });

  it("takes colons for semicolons, and a sequence without an end for none", () => {
    expect(piecesOf(`${ESC}[38:5:1mred`)).toEqual([{ text: "red", look: { ink: 1 } }]);
    expect(piecesOf(`${ESC}[38;5mx`)).toEqual([{ text: "x", look: { ink: 0 } }]);
    expect(plainText(`a${ESC}[`)).toBe("a[");
  });

  it("shows of a progress bar what it said last", () => {
    expect(plainText("10%\r50%\r100%\r")).toBe("100%");
    expect(piecesOf(`${ESC}[32m10%\r50%${ESC}[0m done`)).toEqual([
      { text: "50%", look: { ink: 2 } },
      { text: " done", look: {} },
    ]);
  });

  it("drops titles, cursor moves, bells and other controls", () => {
    expect(plainText(`${ESC}]0;title\x07a${ESC}[2K${ESC}[1Ab\x00c\x08`)).toBe("abc");
  });

  it("shows markup as it is written", () => {
    expect(plainText("<b>&amp;</b>")).toBe("<b>&amp;</b>");
  });
});
