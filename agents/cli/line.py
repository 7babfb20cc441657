"""What is ours and what is torchrun's in ``regroup run …``. Pure.

torchrun ends its own flags at the script's name; so do we, and flags of ours may stand anywhere before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

OWN: dict[str, bool] = {
    "--name": True,
    "--ranks": True,
    "--env": True,
    "--python": True,
    "--workdir": True,
    "--set": True,
    "--upload": True,
    "--url": True,
    "--token": True,
    "--detach": False,
    "--quiet": False,
    "--json": False,
    "--help": False,
}
"""Flags of ``regroup run`` itself, and whether a value follows. None of them begins a flag of torchrun's."""

BARE = ("--module", "--no-python", "--run-path", "--standalone", "--virtual-local-rank")
"""torchrun's flags that no value follows."""
BARE_SHORT = ("-m",)

HANDED_ON = ("OMP_NUM_THREADS", "PYTHONPATH")
HANDED_ON_PREFIXES = ("NCCL_", "GLOO_")
"""Variables of this shell that a job gets without being asked: those that are meant for its workers."""


@dataclass(frozen=True)
class Line:
    own: tuple[str, ...]
    torchrun: tuple[str, ...]
    """torchrun's flags, the script, and the script's arguments, word by word as they were typed."""


def split_line(words: Sequence[str]) -> Line:
    own: list[str] = []
    theirs: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in ("-", "--"):
        word = rest.pop(0)
        target, takes_value = _whose(word, own, theirs)
        target.append(word)
        if takes_value and rest:
            target.append(rest.pop(0))
    return Line(tuple(own), (*theirs, *rest))


def _whose(word: str, own: list[str], theirs: list[str]) -> tuple[list[str], bool]:
    """Where that flag goes, and whether the next word is its value."""
    name, has_value, _ = word.partition("=")
    if name in OWN:
        return own, OWN[name] and not has_value
    if word == "-h":
        return own, False
    if not word.startswith("--"):
        # -t3 holds its value; -t 3 does not.
        return theirs, len(word) == 2 and word not in BARE_SHORT
    return theirs, not has_value and not is_bare(name)


def is_bare(flag: str) -> bool:
    """Whether torchrun takes no value after it; as there, what begins one name alone stands for it."""
    return any(bare.startswith(flag.replace("_", "-")) for bare in BARE)


def variables_for(asked: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The job's environment: what is meant for workers, then each ``NAME=VALUE``, or ``NAME`` as it is here.

    Raises:
        KeyError: a ``NAME`` that is not set here.
    """
    meant = {
        name: value
        for name, value in environment.items()
        if name in HANDED_ON or name.startswith(HANDED_ON_PREFIXES)
    }
    for word in asked:
        name, is_given, value = word.partition("=")
        meant[name] = value if is_given else environment[name]
    return meant
