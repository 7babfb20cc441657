"""torchrun's flags, and how its own parser finds them among words: prefixes, ``=``, short forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from agents.wire.torchrun import REFUSED

from .words import Remark, Word

Read = Callable[[str], Any]


def read_list(text: str) -> list[str]:
    """Commas separate; two are one that belongs to the text."""
    return [item.replace("\0", ",") for item in text.replace(",,", "\0").split(",")]


def read_conf(text: str) -> dict[str, str]:
    conf = {}
    for pair in text.strip().split(",") if text.strip() else ():
        key, _, value = (part.strip() for part in pair.partition("="))
        if not key or not value:
            raise ValueError
        conf[key] = value
    return conf


def read_nproc(text: str) -> int | str:
    return int(text) if text.strip().isdecimal() else text


READS: dict[str, tuple[Read, str]] = {
    "nnodes": (str, ""),
    "nproc_per_node": (read_nproc, ""),
    "rdzv_backend": (str, ""),
    "rdzv_endpoint": (str, ""),
    "rdzv_conf": (read_conf, "Write key=value, and several with commas between them."),
    "max_restarts": (int, "Write a whole number."),
    "monitor_interval": (float, "Write a number of seconds."),
    "start_method": (str, ""),
    "event_log_handler": (str, ""),
    "role": (str, ""),
    "redirects": (str, ""),
    "tee": (str, ""),
    "local_ranks_filter": (str, ""),
    "duplicate_stdout_filters": (read_list, ""),
    "duplicate_stderr_filters": (read_list, ""),
    "numa_binding": (str, ""),
    "signals_to_handle": (str, ""),
    "shutdown_timeout": (lambda text: float(int(text)), "Write whole seconds."),
}
"""Flags with a value that a spec has: how the value is read, and what to do where it cannot be."""
SWITCHES = ("standalone", "module", "no_python", "virtual_local_rank")
REFUSED_SWITCHES = ("run_path",)
LAUNCH_SWITCHES = ("use_env",)
"""Of ``torch.distributed.launch`` alone."""
SHORT = {"-m": "module", "-r": "redirects", "-t": "tee"}
ALL = (*READS, *SWITCHES, *REFUSED)

_NEGATIVE = re.compile(r"^-\d+$|^-\d*\.\d+$")
LONG_DASHES = ("\u2013", "\u2014", "\u2212")
"""What editors and web pages make of two hyphens."""


def is_switch(name: str) -> bool:
    return name in (*SWITCHES, *REFUSED_SWITCHES, *LAUNCH_SWITCHES)


@dataclass(frozen=True)
class Given:
    """A flag as it was given. ``value`` None: it is a switch."""

    name: str
    word: Word
    value: Word | None = None

    @property
    def flag(self) -> str:
        return self.word.text.partition("=")[0]

    @property
    def text(self) -> str:
        return "1" if self.value is None else self.value.text

    def remark(self, message: str) -> Remark:
        return Remark(self.flag, self.word.at, min(self.word.length, len(self.flag)), message)


@dataclass
class Flags:
    given: list[Given] = field(default_factory=list)
    script: Word | None = None
    args: tuple[Word, ...] = ()
    problems: list[Remark] = field(default_factory=list)


def read_flags(words: Sequence[Word], of_launch: bool = False) -> Flags:
    """The flags in front of the script, the script, and all that follows it."""
    names = (*ALL, *(LAUNCH_SWITCHES if of_launch else ()))
    flags, i = Flags(), 0
    while i < len(words):
        word = words[i]
        is_end = word.text == "--" and i + 1 < len(words)
        if is_end or not _is_option(word):
            i += is_end
            # The first lone -- parts flags from the rest, also right behind the script.
            is_parted = not is_end and i + 1 < len(words) and words[i + 1].text == "--"
            flags.script, flags.args = words[i], tuple(words[i + 1 + is_parted :])
            return flags
        i += 1
        i += _read_option(flags, word, words[i:], names)
    return flags


def _is_option(word: Word) -> bool:
    text = word.text
    if text.startswith(LONG_DASHES) and len(text) > 1:
        return True
    if _NEGATIVE.match(text):
        return False  # to torch's parser a value, or the script
    return text.startswith("-") and text != "-" and not (" " in text and "=" not in text)


def _read_option(flags: Flags, word: Word, rest: Sequence[Word], names: Sequence[str]) -> int:
    """Note what the word says. Gives how many words behind it belong to it."""
    name, value = _split(word, names)
    if isinstance(name, Remark):
        flags.problems.append(name)
        return int("=" not in word.text and _looks_like_value(rest))
    if is_switch(name):
        if value is not None:
            flags.problems.append(
                word.remark("It takes no value. Leave out = and what follows.", _name(word))
            )
        flags.given.append(Given(name, word))
        return 0
    if value is not None:
        flags.given.append(Given(name, word, value))
        return 0
    if not rest or _is_option(rest[0]):
        flags.problems.append(word.remark(f"{word.text} needs a value, and none follows. Write one."))
        return 0
    flags.given.append(Given(name, word, rest[0]))
    return 1


def _name(word: Word) -> str:
    return word.text.partition("=")[0]


def _split(word: Word, names: Sequence[str]) -> tuple[str | Remark, Word | None]:
    """Which flag it is, and the value that is joined to it."""
    text = word.text
    if text[:2] in SHORT:
        if len(text) == 2:
            return SHORT[text], None
        return SHORT[text[:2]], word.behind(3 if text[2] == "=" else 2)
    named, joined, _ = text.partition("=")
    found = _find(named, names)
    name = found if isinstance(found, str) else word.remark(found[0], named)
    return name, word.behind(len(named) + 1) if joined else None


def _find(named: str, names: Sequence[str]) -> str | tuple[str]:
    """The one flag that is named so, or begins so. Else what is wrong, alone in a tuple."""
    wanted = named[2:].replace("-", "_") if named.startswith("--") else ""
    if wanted in names:
        return wanted
    begins = [name for name in names if wanted and name.startswith(wanted)]
    if len(begins) == 1:
        return begins[0]
    if begins:
        return (f"{named} may be {_listed(begins)}. Write the one that is meant.",)
    return (f"torchrun has no flag {named}. {_advice(named, names)}",)


def _listed(names: Sequence[str]) -> str:
    options = [_option(name) for name in names]
    return f"{', '.join(options[:-1])} or {options[-1]}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _advice(named: str, names: Sequence[str]) -> str:
    word = named.lstrip("-" + "".join(LONG_DASHES)).replace("-", "_")
    near = get_close_matches(word, names, n=1, cutoff=0.6)
    if not named.startswith("-"):
        near_or_word = _option(near[0]) if near else f"--{word}"
        return f"It begins with a long dash where two hyphens belong: write {near_or_word}."
    if near:
        return f"Write {_option(near[0])}."
    return "Put it behind the script if it is the script's, or leave it out."


def _looks_like_value(rest: Sequence[Word]) -> bool:
    """Whether the word behind a flag that nobody knows is its value, and the script comes later."""
    if len(rest) < 2 or _is_option(rest[0]):
        return False
    return not rest[0].text.endswith((".py", ".sh")) and not rest[0].text.startswith("/")
