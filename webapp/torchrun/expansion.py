"""What a shell puts for ``$NAME`` and the like, as far as the text itself says it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .words import Gap, Letter, Letters, Word, letters_of, text_of

_NAME = re.compile(r"[A-Za-z_]\w*")
_BRACED = re.compile(r"^(?P<name>[A-Za-z_]\w*)(?P<all>\[[@*]\])?(?:(?P<op>:?-)(?P<default>[^$`]*))?$")
_SPECIAL = "@*#?!$-0123456789"


@dataclass
class Variables:
    """What the text has set so far. An array is several words."""

    values: dict[str, tuple[Word, ...]] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    """Values that follow from elsewhere in the text, such as SLURM's from ``--nodes``: name to sentence."""
    left: int = 200_000
    """So many characters may still be put in: a few lines could double a value without end."""

    def set(self, name: str, words: tuple[Word, ...], appends: bool = False) -> None:
        held = self.values.get(name, ()) if appends else ()
        self.values[name] = (*held, *words)

    def set_text(self, name: str, text: str) -> None:
        self.values[name] = (Word(letters_of(text), 0),)


@dataclass(frozen=True)
class Expanded:
    """The words that take the place of an expansion; the first and the last may grow together with others."""

    words: tuple[Word, ...]
    end: int
    """Index of the first character behind it."""
    keeps_words: bool = False
    """Each word stays one, also between double quotes."""


def expand(source: Letters, start: int, variables: Variables) -> Expanded | None:
    """Read the expansion that begins with the ``$`` or backquote at ``start``. None: it is no expansion."""
    char, follows = source[start].char, source[start + 1].char if start + 1 < len(source) else ""
    if char == "`":
        return _substitution(source, start, _find(source, start + 1, "`"), variables)
    if follows == "(":
        return _substitution(source, start, _closing(source, start + 1, "(", ")"), variables)
    if follows == "{":
        return _braced(source, start, _closing(source, start + 1, "{", "}"), variables)
    if match := _NAME.match(text_of(source[start + 1 : start + 120])):
        return _known(source, start, start + 1 + match.end(), match[0], variables)
    if follows and follows in _SPECIAL:
        return _gap(source, start, start + 2, _SPECIAL_WHY)
    return None


_SPECIAL_WHY = (
    "Only the script that this line is from knows what stands here. Write what it would be, or leave it out."
)


def _closing(source: Letters, start: int, opens: str, closes: str) -> int:
    depth = 0
    for i in range(start, len(source)):
        depth += (source[i].char == opens) - (source[i].char == closes)
        if depth == 0:
            return i + 1
    return len(source)


def _find(source: Letters, start: int, char: str) -> int:
    return next((i + 1 for i in range(start, len(source)) if source[i].char == char), len(source))


def _substitution(source: Letters, start: int, end: int, variables: Variables) -> Expanded:
    command = text_of(source[start:end]).strip("$()` ")
    if command == "pwd" and "PWD" in variables.values:
        return Expanded(variables.values["PWD"], end)
    return _gap(
        source, start, end, "It stands for the output of a command, which is not run. Write the output."
    )


def _braced(source: Letters, start: int, end: int, variables: Variables) -> Expanded:
    match = _BRACED.match(text_of(source[start + 2 : end - 1]))
    if match is None:
        return _gap(source, start, end, "This is not read. Write what a shell would put here.")
    name, default = match["name"], match["default"]
    if default is None or name in variables.values:
        return _known(source, start, end, name, variables, bool(match["all"]))
    said = f"{name} is not set in this text, so its default {default!r} is taken."
    first = source[start].at + 2 + match.start("default")
    gap = Gap(text_of(source[start:end]), source[start].at, said, is_filled=True)
    return Expanded((Word(letters_of(default, first), first, (gap,)),), end)


def _known(
    source: Letters, start: int, end: int, name: str, variables: Variables, keeps_words: bool = False
) -> Expanded:
    words = variables.values.get(name)
    if words is None:
        return _gap(source, start, end, f"{name} is not set in this text. Write its value.")
    if name in variables.hints:
        gap = Gap(text_of(source[start:end]), source[start].at, variables.hints[name], is_filled=True)
        text = words[0].text
        here = tuple(Letter(char, source[start].at) for char in text)
        return Expanded((Word(here, source[start].at, (gap,)),), end)
    words = words if keeps_words else words[:1]
    variables.left -= sum(len(word.letters) for word in words)
    if variables.left < 0:
        return _gap(source, start, end, f"{name} is too long to be put in here. Write what is needed of it.")
    return Expanded(words, end, keeps_words)


def _gap(source: Letters, start: int, end: int, why: str) -> Expanded:
    letters = source[start:end]
    gap = Gap(text_of(letters), letters[0].at, why)
    return Expanded((Word(letters, letters[0].at, (gap,)),), end)
