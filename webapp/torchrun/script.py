"""Goes through a shell text without running it: variables, folders, and where torchrun starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from .expansion import Variables
from .launcher import Launch, find_hidden, find_launch, find_other, find_plain
from .lexer import OUTPUT_IS_KEPT, Lexer
from .slurm import Asked, read_directives, read_slurm
from .words import ASSIGNMENT, Command, Letters, Remark, Word, letters_of
from .wrappers import KEYWORDS, read_prefix

QUIET = frozenset(
    {
        "set",
        "shopt",
        "echo",
        "printf",
        "wait",
        "true",
        ":",
        "sleep",
        "date",
        "hostname",
        "nvidia-smi",
        "clear",
    }
)
"""Commands that change nothing for what comes after them."""
_NOT_FOLLOWED = ("if", "elif", "for", "while", "until", "case", "function", "[", "[[", "test")
_SETS_UP = ("conda", "mamba", "micromamba", "module", "ml", "spack", "source", ".", "pyenv", "nvm")
_ACTIVATE = "/bin/activate"

NOT_CARRIED_OUT = "It is not carried out: a job is the one torchrun line."
NOT_FOLLOWED = "Conditions and loops are not followed. What is in them is read as if it stood there alone."
SETS_UP = "It is not carried out on the nodes. Name the interpreter in python, and write variables into env."
IN_BACKGROUND = "A job never holds up a terminal."


@dataclass(frozen=True)
class Found:
    """A torchrun line and what the text had set when it came to it."""

    launch: Launch
    env: dict[str, Word]
    """Each as it was set: ``NAME=value``."""
    workdir: Word | None
    python: str | None
    asked: dict[str, Asked] = field(default_factory=dict)
    """What SLURM was told, by the field of a job that says the same."""


@dataclass
class Script:
    found: list[Found] = field(default_factory=list)
    problems: list[Remark] = field(default_factory=list)
    stripped: list[Remark] = field(default_factory=list)


def read_script(text: str, workdir: str | None = None) -> Script:
    """``workdir``: the folder in which somebody types the text, where that is known."""
    walk = _Walk(workdir)
    for name, (value, option) in read_slurm(text).items():
        walk.variables.set_text(name, value)
        walk.variables.hints[name] = f"{name} is {value}, as {option} says."
    walk.asked |= _by_field(read_directives(text))
    walk.through(letters_of(text))
    return walk.script


class _Walk:
    def __init__(self, workdir: str | None) -> None:
        self.script, self.variables = Script(), Variables()
        self.env: dict[str, Word] = {}
        self.workdir = Word(letters_of(workdir), 0) if workdir else None
        self.python: str | None = None
        self.asked: dict[str, Asked] = {}
        self._tell_folder()

    def through(self, letters: Letters) -> None:
        for command in Lexer(letters, self.variables).commands():
            words = [*command.words]
            while words and words[0].text in KEYWORDS:
                del words[0]
            if words:
                self._read(words, command)

    def _read(self, words: Sequence[Word], command: Command) -> None:
        name = words[0].text
        if all(_is_assignment(word) for word in words):
            self._assign(words, exports=False)
        elif act := _ACTS.get(name):
            act(self, words[1:])
        elif launch := find_launch(words):
            self._launch(launch, command)
        elif hidden := find_hidden(words):
            self._enter(words, hidden)
        elif other := find_other(words):
            self.script.problems.append(other)
        elif launch := find_plain(words):
            self._plain(launch, command)
        else:
            self._pass(words)

    # -- what counts --

    def _launch(self, launch: Launch, command: Command) -> None:
        prefix = read_prefix(launch.before)
        self.script.problems += prefix.problems
        self.script.stripped += [*prefix.stripped, *launch.notes, *command.redirections]
        if command.operator == "&":
            self.script.stripped.append(Remark("&", command.operator_at, 1, IN_BACKGROUND))
        env = self.env | dict(_named(word) for word in prefix.env)
        workdir = self._within(prefix.workdir) if prefix.workdir else self.workdir
        asked = self.asked | _by_field(prefix.asked)
        self.script.found.append(Found(launch, env, workdir, self.python, asked))

    def _plain(self, launch: Launch, command: Command) -> None:
        """Beside a torchrun line it is something else that the text does."""
        if any(not found.launch.is_plain for found in self.script.found):
            self._pass(command.words)
        else:
            self._launch(launch, command)

    def _enter(self, words: Sequence[Word], hidden: Word) -> None:
        before = words[: list(words).index(hidden)]
        if hidden.text.startswith("--"):
            hidden = hidden.behind(hidden.text.index("=") + 1)
        prefix = read_prefix(before)
        self.script.problems += prefix.problems
        self.script.stripped += prefix.stripped
        self.env |= dict(_named(word) for word in prefix.env)
        self.asked |= _by_field(prefix.asked)
        if prefix.workdir:
            self.workdir = self._within(prefix.workdir)
        self.through(hidden.letters)

    def _pass(self, words: Sequence[Word]) -> None:
        name = words[0].text
        if name in QUIET:
            return
        message = NOT_CARRIED_OUT
        if name in _NOT_FOLLOWED:
            message = NOT_FOLLOWED
        elif name in _SETS_UP:
            message = SETS_UP
        elif name == "tee":
            message = OUTPUT_IS_KEPT
        shown = " ".join(word.text for word in words[:3])
        self.script.stripped.append(Remark(shown, words[0].at, words[0].length, message))

    # -- what it sets --

    def _assign(self, words: Sequence[Word], exports: bool) -> None:
        for word in words:
            match = ASSIGNMENT.match(word.text)
            if match is None:
                if exports and word.text in self.variables.values:
                    self.env[word.text] = _whole(word.text, self.variables.values[word.text][0])
                continue
            name, value = match[1], word.behind(match.end())
            self.variables.set(name, (value,) if word.array is None else word.array, appends=bool(match[2]))
            self.variables.hints.pop(name, None)
            if exports or name in self.env:
                self.env[name] = _whole(name, value, word.at)

    def _export(self, words: Sequence[Word]) -> None:
        self._assign([word for word in words if not word.text.startswith("-")], exports=True)

    def _declare(self, words: Sequence[Word]) -> None:
        exports = any(word.text.startswith("-") and "x" in word.text for word in words)
        self._assign([word for word in words if not word.text.startswith("-")], exports)

    def _unset(self, words: Sequence[Word]) -> None:
        for word in words:
            self.env.pop(word.text, None)
            self.variables.values.pop(word.text, None)

    def _go(self, words: Sequence[Word]) -> None:
        if len(words) == 1 and words[0].text != "-":
            self.workdir = self._within(words[0])
            self._tell_folder()
        elif words:
            self.script.problems.append(
                words[0].remark("Where this leads is not known. Write the whole path.")
            )

    def _source(self, words: Sequence[Word]) -> None:
        path = words[0].text if words else ""
        if not (path.startswith("/") and path.endswith(_ACTIVATE)):
            self._pass([Word(letters_of("source", words[0].at), words[0].at), *words] if words else [])
            return
        self.python = str(PurePosixPath(path).parent / "python")
        self.script.stripped.append(
            words[0].remark(f"Its interpreter is named in python: {self.python}.", path)
        )

    def _within(self, folder: Word) -> Word:
        """A relative folder as it is below the one that the text has come to."""
        if folder.open_gaps or folder.text.startswith("/"):
            return folder
        if self.workdir is None:
            message = (
                f"{folder.text} is a relative folder, and where it begins is not known. Write the whole path."
            )
            self.script.problems.append(folder.remark(message))
            return folder
        joined = _joined(PurePosixPath(self.workdir.text), PurePosixPath(folder.text))
        return Word(letters_of(joined), folder.at)

    def _tell_folder(self) -> None:
        if self.workdir is not None and not self.workdir.open_gaps:
            self.variables.set("PWD", (self.workdir,))


def _by_field(asked: Iterable[Asked]) -> dict[str, Asked]:
    return {one.field: one for one in asked}


_ACTS: dict[str, Callable[[_Walk, Sequence[Word]], None]] = {
    "export": _Walk._export,
    "declare": _Walk._declare,
    "typeset": _Walk._declare,
    "local": _Walk._declare,
    "readonly": _Walk._declare,
    "unset": _Walk._unset,
    "cd": _Walk._go,
    "pushd": _Walk._go,
    "source": _Walk._source,
    ".": _Walk._source,
}
"""Commands that change what those behind them mean."""


def _is_assignment(word: Word) -> bool:
    return ASSIGNMENT.match(word.text) is not None


def _named(word: Word) -> tuple[str, Word]:
    return word.text.partition("=")[0], word


def _whole(name: str, value: Word, at: int | None = None) -> Word:
    """``NAME=value``, also where the name was written elsewhere."""
    begin = value.at if at is None else at
    letters = (*letters_of(f"{name}=", begin), *value.letters)
    return Word(letters, begin, value.gaps, value.is_quoted)


def _joined(base: PurePosixPath, relative: PurePosixPath) -> str:
    parts = list(base.parts)
    for part in relative.parts:
        if part == "..":
            parts = parts[:1] if len(parts) < 2 else parts[:-1]
        else:
            parts.append(part)
    return str(PurePosixPath(*parts))
