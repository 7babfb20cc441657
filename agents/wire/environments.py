"""Interpreters that nodes offer by name, and how a job's ``python`` asks for one: ``env:NAME``. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

PREFIX = "env:"
NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
NAME_ADVICE = "letters, digits, dots, dashes and underscores, at most 63, beginning with a letter or digit"


@dataclass(frozen=True, kw_only=True)
class Environment:
    """One that a node offers, as its node agent found it when it started."""

    name: str
    path: str
    """Of the interpreter."""
    python: str = ""
    """Its version. Empty: not known."""
    torch: str = ""
    """The version of torch there. Empty: not known."""
    trouble: str = ""
    """Why no job can run with it, as words behind its name. Empty: nothing is known against it."""


def environment_of(python: str | None) -> str:
    """The name that is asked for. Empty: a path, or nothing in particular."""
    return python.removeprefix(PREFIX) if python and python.startswith(PREFIX) else ""


def why_not_python(python: str | None) -> str:
    """What is wrong with a job's ``python``, and what to write instead. Empty: nothing."""
    if python is None or ":" not in python.partition("/")[0]:
        return ""
    if NAME.match(environment_of(python)):
        return ""
    if python.startswith(PREFIX):
        return f"python is {python!r}. Behind {PREFIX} write the name of an environment: {NAME_ADVICE}."
    return (
        f"python is {python!r}, which is neither a path nor {PREFIX}NAME. Write the path of an interpreter, "
        f"or {PREFIX} and the name of an environment that the nodes offer."
    )
