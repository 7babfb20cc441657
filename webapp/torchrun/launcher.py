"""Which words of a command start torchrun, and with which interpreter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from .words import Remark, Word

MODULES = {"torch.distributed.run": False, "torch.distributed.launch": True}
"""The modules that are torchrun: whether it is the old one."""
FILES = {"torch/distributed/run.py": False, "torch/distributed/launch.py": True}
PYTHON = re.compile(r"^python[\d.]*$|^pypy[\d.]*$")
_HIDDEN = re.compile(r"torchrun|torch\.distributed\.(run|launch)")

OTHERS = {
    "accelerate": "accelerate launch sets up torchrun by a file of its own. Write what that does: torchrun "
    "--nnodes N --nproc-per-node M SCRIPT ….",
    "deepspeed": "The deepspeed launcher is not torchrun. A script for it runs under torchrun, too: write "
    "torchrun --nnodes N --nproc-per-node M SCRIPT ….",
    "horovodrun": "Horovod starts its workers itself. Regroup runs scripts that torchrun can run.",
    "torchx": "torchx makes a torchrun line of a component. Write that line; torchx run --dryrun shows it.",
    "composer": "composer is a launcher of its own. Write torchrun --nproc-per-node M SCRIPT … in its place.",
    "colossalai": "colossalai run makes a torchrun line of its own. Write that line.",
    "fabric": "fabric run starts workers itself. Write torchrun --nproc-per-node M SCRIPT … in its place.",
}
"""Launchers that are not torchrun, and what to do about each."""


@dataclass(frozen=True)
class Launch:
    """A command that starts torchrun, taken apart."""

    word: Word
    before: tuple[Word, ...]
    words: tuple[Word, ...]
    """Its flags, the script and the script's arguments."""
    is_old: bool = False
    """``torch.distributed.launch``."""
    is_plain: bool = False
    """No torchrun at all: Python runs the script itself."""
    python: str | None = None
    notes: tuple[Remark, ...] = field(default=())


def find_launch(words: Sequence[Word]) -> Launch | None:
    for i, word in enumerate(words):
        name = PurePosixPath(word.text).name
        if name == "torchrun":
            return Launch(word, tuple(words[:i]), tuple(words[i + 1 :]), python=_beside(word.text))
        follows = words[i + 1].text if i + 1 < len(words) else ""
        if word.text == "-m" and follows in MODULES:
            return _by_python(words, i, i + 2, MODULES[follows])
        if module := next((m for m in MODULES if word.text == f"-m{m}"), None):
            return _by_python(words, i, i + 1, MODULES[module])
        if file := next((f for f in FILES if word.text.endswith(f)), None):
            return _by_python(words, i, i + 1, FILES[file])
    return None


def _beside(torchrun: str) -> str | None:
    """The interpreter of the environment that a whole path to torchrun belongs to."""
    return str(PurePosixPath(torchrun).parent / "python") if torchrun.startswith("/") else None


def _by_python(words: Sequence[Word], option: int, end: int, is_old: bool) -> Launch:
    at = next(
        (i for i in range(option - 1, -1, -1) if PYTHON.match(PurePosixPath(words[i].text).name)), option
    )
    notes = tuple(word.remark(_of_python(word.text)) for word in words[at + 1 : option])
    word = words[min(at, option)]
    return Launch(word, tuple(words[:at]), tuple(words[end:]), is_old, python=_named(word.text), notes=notes)


def _of_python(option: str) -> str:
    if option == "-u":
        return "Workers never buffer their output."
    return "It is an option of the interpreter that runs torchrun, not of the workers'. It is left out."


def _named(text: str) -> str | None:
    """``python`` and ``python3`` are whatever comes first in a PATH: so is the node agent's."""
    return None if text in ("python", "python3") or not PYTHON.match(PurePosixPath(text).name) else text


def find_plain(words: Sequence[Word]) -> Launch | None:
    """``python train.py``, which runs one process."""
    for i, word in enumerate(words):
        if PYTHON.match(PurePosixPath(word.text).name):
            rest = [w for w in words[i + 1 :] if w.text not in ("-u", "-O", "-B")]
            is_script = bool(rest) and (rest[0].text.endswith(".py") or rest[0].text == "-m")
            plain = Launch(word, tuple(words[:i]), tuple(rest), is_plain=True, python=_named(word.text))
            return plain if is_script else None
    return None


def find_hidden(words: Sequence[Word]) -> Word | None:
    """A word with a whole command in it, as behind ``bash -c``."""
    return next((w for w in words if " " in w.text and _HIDDEN.search(w.text)), None)


def find_other(words: Sequence[Word]) -> Remark | None:
    """A launcher that is not torchrun."""
    for word in words:
        if message := OTHERS.get(PurePosixPath(word.text).name):
            return word.remark(message)
    return None
