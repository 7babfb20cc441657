"""What people put in front of torchrun: what it does there, and what becomes of it here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from .slurm import WRAPPERS as SLURM
from .slurm import Asked, read_options
from .words import ASSIGNMENT, Remark, Word

_STARTER = "Regroup starts a runner on each node itself; how many nodes is said by nnodes."
_SHELL_ONLY = "It does something for the shell's own process. A job's runner does not need it."
_CONTAINER = (
    "Workers run on the nodes themselves: the script and its paths must be there, or the node agent must run "
    "in that image."
)
_ENVIRONMENT = "Name that environment's interpreter in python."
_PLACING = "Workers are started without it."

WRAPPERS = {
    **dict.fromkeys(
        ("srun", "mpirun", "mpiexec", "orterun", "sbatch", "salloc", "pdsh", "ssh", "clush"), _STARTER
    ),
    **dict.fromkeys(("kubectl", "oc"), _STARTER),
    **dict.fromkeys(
        ("nohup", "setsid", "screen", "tmux", "exec", "command", "unbuffer", "script"), _SHELL_ONLY
    ),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "eval"), _SHELL_ONLY),
    **dict.fromkeys(("time", "stdbuf"), "The page shows how long it took, and lines come at once."),
    "timeout": "Write how long the job may run into time_limit, such as 2h.",
    **dict.fromkeys(("sudo", "doas"), "Workers run as the user of the node agent."),
    **dict.fromkeys(("docker", "podman", "nerdctl", "singularity", "apptainer", "enroot"), _CONTAINER),
    **dict.fromkeys(
        ("conda", "mamba", "micromamba", "uv", "poetry", "pipenv", "pixi", "hatch"), _ENVIRONMENT
    ),
    **dict.fromkeys(
        ("numactl", "taskset", "nice", "ionice", "chrt"), f"{_PLACING} numa_binding binds workers."
    ),
    **dict.fromkeys(("nsys", "ncu", "py-spy", "strace", "perf", "gdb"), _PLACING),
    "env": "",
}
"""Name to the sentence that is said of it. Empty: what it does is done here too."""
KEYWORDS = frozenset({"then", "do", "else", "!", "{", "}", "$", ">", "fi", "done"})
"""Words of the shell's own, and prompts, which mean nothing in front of a command."""

_VARIABLE_OPTIONS = ("-x", "-e", "--env", "--genv")
_FOLDER_OPTIONS = ("-w", "--workdir", "--chdir", "-D", "-C", "-wdir", "--wdir")
_NODES = re.compile(r"(?:^|\s)(?:-N|--nodes)[ =]?(\d+)")


@dataclass
class Prefix:
    env: list[Word] = field(default_factory=list)
    workdir: Word | None = None
    stripped: list[Remark] = field(default_factory=list)
    problems: list[Remark] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    """What SLURM was told, as far as a job has it as well."""


def read_prefix(words: Sequence[Word]) -> Prefix:
    """Everything in front of torchrun: variables, wrappers with their options, words that nobody knows."""
    prefix, words = Prefix(), [word for word in words if word.text not in KEYWORDS]
    plain = next((i for i, word in enumerate(words) if not ASSIGNMENT.match(word.text)), len(words))
    prefix.env.extend(words[:plain])
    for part in _parts(words[plain:]):
        _read_wrapper(prefix, part)
    return prefix


def wrapper_name(word: Word) -> str:
    return PurePosixPath(word.text).name if not word.text.startswith("-") else ""


def _parts(words: Sequence[Word]) -> list[list[Word]]:
    """A part for each wrapper, which begins with its name."""
    parts: list[list[Word]] = []
    for word in words:
        if not parts or wrapper_name(word) in WRAPPERS:
            parts.append([])
        parts[-1].append(word)
    return parts


def _read_wrapper(prefix: Prefix, words: Sequence[Word]) -> None:
    name = wrapper_name(words[0])
    if name not in WRAPPERS:
        message = (
            f"{words[0].text} stands in front of torchrun, and what it does is not known. It is left out."
        )
        prefix.problems.append(words[0].remark(message))
        return
    _take_settings(prefix, words)
    if said := WRAPPERS[name]:
        shown = " ".join(word.text for word in words)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        prefix.stripped.append(Remark(shown, words[0].at, words[0].length, said + _asked_nodes(name, shown)))


def _asked_nodes(name: str, shown: str) -> str:
    match = _NODES.search(shown) if name in SLURM else None
    return f" {name} was told {match[1]}." if match else ""


def _take_settings(prefix: Prefix, words: Sequence[Word]) -> None:
    """Variables and the folder, which a wrapper was told to set."""
    name = wrapper_name(words[0])
    if name in SLURM:
        prefix.asked += read_options(words[1:])
    for word, follows in zip(words, [*words[1:], None], strict=True):
        option, joined, _ = word.text.partition("=")
        value = word.behind(len(option) + 1) if joined else follows
        if value is None:
            continue
        if option in _VARIABLE_OPTIONS and ASSIGNMENT.match(value.text):
            prefix.env.append(value)
        elif option in _FOLDER_OPTIONS and _has_folder(name, option):
            prefix.workdir = value
        elif name == "env" and ASSIGNMENT.match(word.text):
            prefix.env.append(word)


def _has_folder(name: str, option: str) -> bool:
    """The same letter is something else for others."""
    if name in SLURM:
        return option in ("-D", "--chdir")
    if name == "env":
        return option in ("-C", "--chdir")
    return option in ("-w", "--workdir", "-wdir", "--wdir") and name in (
        "docker",
        "podman",
        "mpirun",
        "mpiexec",
    )
