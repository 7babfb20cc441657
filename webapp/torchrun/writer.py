"""A spec as a torchrun line, which ``reader.parse`` reads back as it was, and what such a line cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import PurePosixPath
from shlex import quote
from typing import Any

from agents.wire.spec import JobSpec, parse_nnodes

from .flags import ALL, LONG_DASHES, READS
from .launcher import PYTHON
from .reader import EXECUTED, OURS, SET_BY

_NAME = re.compile(r"^[A-Za-z_]\w*$", re.A)
_LONG = 100
"""Longer lines are written one flag a line."""
_SWITCHES = ("standalone", "no_python", "virtual_local_rank")
_OTHERWISE = ("script", "module", "args", "env", "workdir", "python", "code", "log_line_prefix_template")
"""Fields that a line says in another way than by a flag with a value."""
NEEDS_ENDPOINT = (
    "Regroup picks where the nodes meet. torchrun itself needs --rdzv-endpoint HOST:PORT for several nodes, "
    "and has to be started on each of them."
)
ITS_CODE = (
    "The script is in code that was uploaded to Regroup, which REGROUP_CODE names. torchrun itself has to be "
    "started in a folder with that code."
)


@dataclass
class Written:
    command: str = ""
    notes: list[str] = field(default_factory=list)
    """What the line does not say, as sentences."""


def to_torchrun(spec: JobSpec, others: Mapping[str, Any] | None = None) -> Written:
    """``others``: what the job has beside its spec. It is told in the notes, like all that torchrun lacks."""
    written = Written()
    start = [*_environment(spec, written), *_launcher(spec)]
    rest = [*_flags(spec, written), *_script(spec)]
    words = [" ".join(start), *rest, *map(quote, spec.args)]
    line = " ".join(words)
    if len(line) > _LONG:
        flags = [words[0], *rest]
        line = " \\\n  ".join([*flags[:-1], " ".join([flags[-1], *words[len(flags) :]])])
    written.command = _within(spec, line)
    _tell_missing(spec, others or {}, written)
    return written


def _within(spec: JobSpec, line: str) -> str:
    return f"cd {quote(spec.workdir)} && {line}" if spec.workdir else line


def _environment(spec: JobSpec, written: Written) -> list[str]:
    said = []
    for name, value in spec.env.items():
        if not _NAME.match(name):
            written.notes.append(f"env has {name!r}, and no shell takes such a name.")
        elif name in OURS:
            written.notes.append(f"env has {name}, which is read as {OURS[name]} in a line. It is left out.")
        elif name in SET_BY or (name.startswith("PET_") and name[4:].lower() in ALL):
            written.notes.append(f"env has {name}, which torchrun would read itself. It is left out.")
        else:
            said.append(f"{name}={quote(value)}")
    if spec.log_line_prefix_template is not None:
        said.append(f"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE={quote(spec.log_line_prefix_template)}")
    if spec.code is not None:
        said.append(f"REGROUP_CODE={quote(spec.code)}")
        written.notes.append(ITS_CODE)
    if spec.python and not _runs_torchrun(spec.python):
        said.append(f"PYTHON_EXEC={quote(spec.python)}")
    return said


def _runs_torchrun(python: str) -> bool:
    path = PurePosixPath(python)
    return python.startswith("/") and PYTHON.match(path.name) is not None


def _launcher(spec: JobSpec) -> list[str]:
    if spec.python and _runs_torchrun(spec.python):
        return [quote(spec.python), "-m", "torch.distributed.run"]
    return ["torchrun"]


def _flags(spec: JobSpec, written: Written) -> list[str]:
    usual = JobSpec()
    said = []
    for name in READS:
        value = getattr(spec, name)
        if value == getattr(usual, name) and not _is_needed(spec, name):
            continue
        text = _TEXTS.get(name, str)(value)
        if _reads_back(name, text, value):
            said.append(f"--{name.replace('_', '-')}={quote(text)}")
        else:
            written.notes.append(f"{name} is {value!r}, which no flag of torchrun can say.")
    return [*said, *(f"--{name.replace('_', '-')}" for name in _SWITCHES if getattr(spec, name))]


def _is_needed(spec: JobSpec, name: str) -> bool:
    """torchrun's own choice of a backend depends on other flags."""
    if name != "rdzv_backend" or spec.standalone:
        return False
    return bool(spec.rdzv_endpoint) or parse_nnodes(spec.nnodes)[1] > 1


def _reads_back(name: str, text: str, value: Any) -> bool:
    try:
        read = READS[name][0](text)
    except ValueError:
        return False
    return bool((tuple(read) if isinstance(read, list) else read) == value)


def _filters(values: tuple[str, ...]) -> str:
    return ",".join(value.replace(",", ",,") for value in values)


def _seconds(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


_TEXTS: dict[str, Callable[[Any], str]] = {
    "rdzv_conf": lambda conf: ",".join(f"{key}={value}" for key, value in conf.items()),
    "duplicate_stdout_filters": _filters,
    "duplicate_stderr_filters": _filters,
    "shutdown_timeout": _seconds,
}


def _script(spec: JobSpec) -> list[str]:
    name = spec.module or spec.script or ""
    is_parted = name.startswith(("-", *LONG_DASHES)) or spec.args[:1] == ("--",)
    ends = ["--"] if is_parted else []
    return [*(["-m"] if spec.module else []), *ends, quote(name)]


def _tell_missing(spec: JobSpec, others: Mapping[str, Any], written: Written) -> None:
    usual = JobSpec()
    is_said = {*READS, *_SWITCHES, *_OTHERWISE}
    if any(getattr(spec, name) for name in EXECUTED):
        is_said.add("start")
    for name in (one.name for one in fields(JobSpec) if one.name not in is_said):
        value = getattr(spec, name)
        if value != getattr(usual, name):
            written.notes.append(_missing(name, value))
    written.notes += [_missing(name, value) for name, value in others.items() if value]
    if parse_nnodes(spec.nnodes)[1] > 1 and not spec.rdzv_endpoint:
        written.notes.append(NEEDS_ENDPOINT)


def _missing(name: str, value: Any) -> str:
    shown = ", ".join(map(str, value)) if isinstance(value, tuple | list) else value
    return f"{name} is {shown or 'empty'}, which torchrun does not have."
