"""What a text says to SLURM: the values of its variables that follow, and what of it a job has as well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from .words import Remark, Word, letters_of

_IS_SLURM = re.compile(r"\b(srun|sbatch|salloc)\b|^#SBATCH", re.M)
_NODES = re.compile(r"(?:\s-N[ =]?|--nodes[ =])\s*(\d+)(?![\d-])")
_GPUS = re.compile(r"--(?:gpus-per-node|gres)[ =](?:gpu:)?(?:[A-Za-z]\w*:)?(\d+)")
_TASKS = re.compile(r"--ntasks-per-node[ =](\d+)")

_VARIABLES = (
    (_NODES, ("SLURM_NNODES", "SLURM_JOB_NUM_NODES")),
    (_GPUS, ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE")),
    (_TASKS, ("SLURM_NTASKS_PER_NODE",)),
)


def read_slurm(text: str) -> dict[str, tuple[str, str]]:
    """Name of each variable to its value and the option that says it."""
    if not _IS_SLURM.search(text):
        return {}
    found: dict[str, tuple[str, str]] = {}
    for pattern, names in _VARIABLES:
        if match := pattern.search(text):
            found |= dict.fromkeys(names, (match[1], match[0].strip()))
    return found


# -- what a job has as well --

WRAPPERS = ("srun", "sbatch", "salloc")
_FIELDS = {
    "--time": "time_limit",
    "-t": "time_limit",
    "--job-name": "name",
    "-J": "name",
    "--nodes": "nnodes",
    "-N": "nnodes",
}
_DIRECTIVE = re.compile(r"^#SBATCH[ \t]+(.*)$", re.M)
_TIME = re.compile(r"^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$", re.A)
_COUNT = re.compile(r"^(\d+)(?:-(\d+))?$", re.A)
_UNLIMITED = ("0", "unlimited", "infinite")


@dataclass(frozen=True)
class Asked:
    """An option of SLURM's with its value, and the field of a job that says the same."""

    field: str
    option: Word
    value: Word

    def remark(self, message: str) -> Remark:
        return self.option.remark(message)


def read_options(words: Sequence[Word]) -> Iterator[Asked]:
    """Of the words behind ``srun`` and its like."""
    for word, follows in zip_longest(words, words[1:]):
        name, joined, _ = word.text.partition("=")
        short = word.text[:2]
        if name in _FIELDS and joined:
            yield Asked(_FIELDS[name], word, word.behind(len(name) + 1))
        elif word.text in _FIELDS and follows is not None:
            yield Asked(_FIELDS[word.text], word, follows)
        elif short in _FIELDS and len(word.text) > 2 and not word.text.startswith("--"):
            yield Asked(_FIELDS[short], word, word.behind(2))


def read_directives(text: str) -> Iterator[Asked]:
    """Of the lines that begin with ``#SBATCH``."""
    for line in _DIRECTIVE.finditer(text):
        said = line[1].partition(" #")[0]
        found = re.finditer(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""", said)
        yield from read_options([_word(one[0], line.start(1) + one.start()) for one in found])


def _word(text: str, at: int) -> Word:
    return Word(tuple(one for one in letters_of(text, at) if one.char not in "\"'"), at)


def read_time(text: str) -> str | None:
    """SLURM's time as a ``time_limit``: ``MIN``, ``MIN:S``, ``H:MIN:S``, ``D-H[:MIN[:S]]``.

    Empty: it sets no limit. None: it is no time.
    """
    if text.lower() in _UNLIMITED:
        return ""
    found = _TIME.match(text)
    if found is None:
        return None
    days, *parts = found.groups()
    counts = [int(part) for part in parts if part is not None]
    if days is None:
        # A number alone is minutes, two are minutes and seconds.
        counts = [0, *counts] if len(counts) < 3 else counts
    hours, minutes, seconds = [*counts, 0, 0, 0][:3]
    total = ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds
    return _written(total)


def _written(seconds: int) -> str:
    said = ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
        many, seconds = divmod(seconds, size)
        said += f"{many}{unit}" if many else ""
    return said


def read_count(text: str) -> str | None:
    """SLURM's number of nodes as ``nnodes``. None: it is none."""
    found = _COUNT.match(text)
    if found is None:
        return None
    return f"{found[1]}:{found[2]}" if found[2] and found[2] != found[1] else found[1]
