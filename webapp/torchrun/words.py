"""Words of a shell text that know where each of their characters was written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)(\+?)=")


class Letter(NamedTuple):
    char: str
    at: int
    """Its offset in the text that was pasted."""


Letters = tuple[Letter, ...]


@dataclass(frozen=True)
class Remark:
    """Something to say about a place of the text."""

    flag: str
    """What stands there, as short as it can be named."""
    position: int
    length: int
    message: str


@dataclass(frozen=True)
class Gap:
    """A piece for which a shell would put something else, such as ``$HOST``. The word has it as written."""

    text: str
    at: int
    message: str
    is_filled: bool = False
    """Its value is known, and the message says from where."""

    @property
    def remark(self) -> Remark:
        return Remark(self.text, self.at, len(self.text), self.message)


@dataclass(frozen=True)
class Word:
    letters: Letters
    at: int
    gaps: tuple[Gap, ...] = ()
    is_quoted: bool = False
    array: tuple[Word, ...] | None = None
    """Of ``NAME=(…)``: what the brackets hold."""

    @property
    def text(self) -> str:
        return "".join(letter.char for letter in self.letters)

    @property
    def length(self) -> int:
        """As far as it was written in one piece."""
        end = self.at
        for letter in self.letters:
            if letter.at not in (end, end + 1):
                break
            end = letter.at
        return max(1, end - self.at + 1)

    @property
    def open_gaps(self) -> tuple[Gap, ...]:
        return tuple(gap for gap in self.gaps if not gap.is_filled)

    def behind(self, start: int) -> Word:
        """The same word without its first characters."""
        letters = self.letters[start:]
        return Word(letters, letters[0].at if letters else self.at, self.gaps, self.is_quoted, self.array)

    def remark(self, message: str, flag: str = "") -> Remark:
        name = flag or self.text
        return Remark(name, self.at, min(self.length, len(name)) or 1, message)


@dataclass(frozen=True)
class Command:
    """Words between two of the shell's operators."""

    words: tuple[Word, ...]
    redirections: tuple[Remark, ...] = ()
    operator: str = ""
    """What stands behind it: ``&&``, ``;``, ``|``, ``&``, a line break, or nothing."""
    operator_at: int = 0


def letters_of(text: str, at: int = 0) -> Letters:
    return tuple(Letter(char, at + i) for i, char in enumerate(text))


def text_of(letters: Letters) -> str:
    return "".join(letter.char for letter in letters)
