"""How a command ends: exit codes that scripts can rely on, and the sentence that goes with them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """These numbers are public and stay; ``docs/cli.md`` lists them."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_ALLOWED = 3
    NOT_FOUND = 4
    UNREACHABLE = 5
    REFUSED = 6
    INTERRUPTED = 130


class Refusal(Exception):
    """The command cannot go on. The text is one or more whole sentences for the person who typed it."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(sentence)
        self.code = code


class Unreachable(Refusal):
    """The hub did not answer, or said that it cannot now. Whether it did what was asked is not known."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, ExitCode.UNREACHABLE)
