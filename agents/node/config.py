"""What the daemon is told at its start, by flags or by the environment; nonsense is refused in a sentence."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn
from urllib.parse import urlsplit

from ..wire.bus import check_url
from ..wire.environments import NAME as ENVIRONMENT
from ..wire.environments import NAME_ADVICE

SECRETS = "REGROUP_REDIS_URL"
"""Variables whose names begin so may hold a password: no job inherits them."""

RUNNER_BOOT = Path(__file__).parent.parent / "runner" / "boot.py"
KEEPER_BOOT = Path(__file__).parent.parent / "keeper" / "boot.py"

_LABEL = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$")
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")


class ConfigError(ValueError):
    """A setting that cannot be used. The text says which, and what to write instead."""


@dataclass(frozen=True, kw_only=True)
class Config:
    redis_url: str
    name: str
    data: Path
    slots: int | Literal["gpus"] | None
    """Workers that may run here at a time. gpus: one for each GPU. None: the same, or one for each core."""
    address: str | None
    """Under which other nodes reach this one. None: the one that leads to Redis."""
    python: str
    """The default interpreter of jobs: an absolute path."""
    environments: dict[str, str] = field(default_factory=dict)
    """Interpreters that jobs may ask for by name: an absolute path each, which need not exist now."""
    keep_days: float = 14.0
    """How long the bundle of an attempt, its logs among it, stays after its end."""
    gpu_share: tuple[int, int] = (1, 1)
    """Which share of the machine's GPUs is this node's, of how many: node agents do not ask each other."""
    hub_url: str | None = None
    """Where the hub is reached from here, for the code of jobs. None: where it says itself."""
    labels: dict[str, str] = field(default_factory=dict)
    """What jobs may ask of a node, such as ``disk``: ``nvme``."""
    warm: bool = True
    """Whether a process that has imported torch is kept ready for the next launch, of some 200 MB."""
    runner_boot: Path = RUNNER_BOOT
    keeper_boot: Path = KEEPER_BOOT


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message[0].upper()}{message[1:]}. See {self.prog} --help.")


_FLAGS = {
    "--redis-url": (
        "REGROUP_REDIS_URL",
        "URL",
        "Redis or Valkey, redis://[:PASSWORD@]HOST:PORT[/DB], or sentinel://HOST:PORT,…/MASTER",
    ),
    "--name": (
        "REGROUP_NODE_NAME",
        "NAME",
        "name of this node, unique in the fleet (default: the host's name)",
    ),
    "--data": ("REGROUP_DATA", "FOLDER", "folder for journals, logs and bundles, one for each agent"),
    "--slots": (
        "REGROUP_SLOTS",
        "N|gpus",
        "workers that may run here at a time, or gpus (default: one for each GPU, else one for each core)",
    ),
    "--gpu-share": (
        "REGROUP_GPU_SHARE",
        "K/N",
        "for the K-th of N node agents on one machine: every N-th GPU is its own (default: 1/1)",
    ),
    "--labels": (
        "REGROUP_LABELS",
        "KEY=VALUE,…",
        "labels of this node, by which jobs can ask for it, such as disk=nvme,zone=b",
    ),
    "--address": ("REGROUP_ADDRESS", "ADDRESS", "address under which other nodes reach this one"),
    "--hub": (
        "REGROUP_HUB_URL",
        "URL",
        "address of the hub as this node reaches it, for uploaded code (default: the one that the hub tells)",
    ),
    "--keep-days": (
        "REGROUP_KEEP_DAYS",
        "DAYS",
        "days that the logs of an ended attempt are kept (default: 14)",
    ),
    "--warm": (
        "REGROUP_WARM",
        "on|off",
        "keep a process with torch imported (some 200 MB), so that launches are quick (default: on)",
    ),
    "--python": ("REGROUP_PYTHON", "PATH", "default interpreter of jobs (default: the agent's own)"),
    "--environment": (
        "REGROUP_ENVIRONMENTS",
        "NAME=PATH",
        "an interpreter that jobs may ask for as env:NAME; may be given several times; the variable has "
        "spaces between them",
    ),
}
_SEVERAL = ("--environment",)
"""Flags that may be given more than once."""


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="regroup-agent", description="The node agent of Regroup.", allow_abbrev=False)
    for flag, (variable, metavar, text) in _FLAGS.items():
        action = "append" if flag in _SEVERAL else "store"
        parser.add_argument(flag, metavar=metavar, action=action, help=f"{text}; or {variable}")
    return parser


def read_config(argv: Sequence[str], environ: Mapping[str, str]) -> Config:
    """Flags first, then the environment.

    Raises:
        ConfigError: something is missing or cannot be used.
    """
    flags = vars(_parser().parse_args(argv))

    def value(flag: str) -> str:
        return given(flag) or environ.get(_FLAGS[flag][0], "")

    def given(flag: str) -> Any:
        return flags[flag.lstrip("-").replace("-", "_")]

    return Config(
        redis_url=_read_url(value("--redis-url"), environ),
        name=_read_name(value("--name")),
        data=_read_data(value("--data")),
        slots=_read_slots(value("--slots")),
        gpu_share=_read_share(value("--gpu-share")),
        labels=_read_labels(value("--labels")),
        address=value("--address") or None,
        hub_url=_read_hub(value("--hub")),
        python=_read_python(value("--python")),
        environments=_read_environments(
            given("--environment") or _split(environ.get("REGROUP_ENVIRONMENTS", ""))
        ),
        keep_days=_read_days(value("--keep-days")),
        warm=_read_switch("--warm", value("--warm")),
    )


def _read_url(text: str, environ: Mapping[str, str]) -> str:
    path = environ.get("REGROUP_REDIS_URL_FILE", "")
    if not text and path:
        try:
            text = Path(path).read_text().strip()
        except OSError as error:
            raise ConfigError(
                f"REGROUP_REDIS_URL_FILE is {path!r}, which cannot be read: {error.strerror}."
            ) from error
    if not text:
        raise ConfigError(
            "No Redis is named. Give --redis-url redis://HOST:PORT, "
            "or set REGROUP_REDIS_URL or REGROUP_REDIS_URL_FILE."
        )
    try:
        check_url(text)
    except ValueError as error:
        raise ConfigError(f"The Redis URL cannot be used. {error}") from error
    return text


def _read_name(text: str) -> str:
    name = text or socket.gethostname()
    if not _NAME.match(name):
        raise ConfigError(
            f"--name is {name!r}. Write letters, digits, dots, dashes and underscores, at most 63, "
            "beginning with a letter or digit."
        )
    return name


def _read_data(text: str) -> Path:
    if not text:
        raise ConfigError("No data folder is named. Give --data FOLDER or REGROUP_DATA.")
    return Path(text).expanduser().absolute()


def _read_slots(text: str) -> int | Literal["gpus"] | None:
    if text == "gpus":
        return "gpus"
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= 4096:
        raise ConfigError(f"--slots is {text!r}. Write how many workers may run here, 1 to 4096, or gpus.")
    return int(text)


def _read_share(text: str) -> tuple[int, int]:
    which, slash, many = (text or "1/1").partition("/")
    if not (slash and which.isdecimal() and many.isdecimal() and 1 <= int(which) <= int(many)):
        raise ConfigError(f"--gpu-share is {text!r}. Write which of how many agents this is, such as 1/3.")
    return int(which), int(many)


def _read_labels(text: str) -> dict[str, str]:
    labels = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        key, equals, what = pair.partition("=")
        if not (equals and _LABEL.match(key) and _LABEL.match(what)):
            raise ConfigError(
                f"--labels has {pair!r}. Write KEY=VALUE, several with commas between them: letters, digits, "
                "dots, dashes, slashes and underscores."
            )
        labels[key] = what
    return labels


def _read_hub(text: str) -> str | None:
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(f"--hub is {text!r}. Write the hub's address, such as http://hub:8000.")
    return text.rstrip("/") or None


def _read_days(text: str) -> float:
    try:
        days = float(text or Config.keep_days)
    except ValueError:
        days = -1.0
    if not 0 <= days <= 36500:
        raise ConfigError(f"--keep-days is {text!r}. Write a number of days, 0 or more.")
    return days


def _read_switch(flag: str, text: str) -> bool:
    if text not in ("", "on", "off"):
        raise ConfigError(f"{flag} is {text!r}. Write on or off.")
    return text != "off"


def _read_python(text: str) -> str:
    if not text:
        return sys.executable
    found = shutil.which(text)
    if found is None:
        raise ConfigError(f"--python is {text!r}, which is no program that can be run here.")
    return str(Path(found).absolute())


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"REGROUP_ENVIRONMENTS is {text!r}, whose quotes do not match.") from error


def _read_environments(pairs: Sequence[str]) -> dict[str, str]:
    """Whether they are there is seen when a job asks for one: a disk may be late, and the node is not."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, _, path = pair.partition("=")
        path = str(Path(path).expanduser())
        if not (ENVIRONMENT.match(name) and path.startswith("/")):
            raise ConfigError(
                f"--environment is {pair!r}. Write NAME=/path/to/python, the name in {NAME_ADVICE}."
            )
        if found.setdefault(name, path) != path:
            raise ConfigError(f"--environment names {name} twice, as {found[name]} and as {path}. Keep one.")
    return found
