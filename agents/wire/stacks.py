"""What a node tells of the stacks of its workers, and which of them stand at the same place. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["", "py-spy", "faulthandler"]


@dataclass(frozen=True, kw_only=True)
class Frame:
    name: str
    file: str
    line: int


@dataclass(frozen=True, kw_only=True)
class ThreadStack:
    name: str = ""
    frames: tuple[Frame, ...] = ()
    """The innermost first."""


@dataclass(frozen=True, kw_only=True)
class RankStacks:
    rank: int
    pid: int
    state: str = ""
    """The kernel's letter: R, S, D, T, Z. Empty: it is gone."""
    waits_in: str = ""
    """The kernel function that it waits in, where the kernel tells."""
    method: Method = ""
    """How its stacks were read. Empty: they were not, and ``problem`` says why."""
    threads: tuple[ThreadStack, ...] = ()
    """The main thread first."""
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class StacksAnswer:
    ranks: tuple[RankStacks, ...] = ()
    problem: str | None = None
    """Why there are none, in words."""
