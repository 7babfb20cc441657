"""How a runner ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Ending:
    outcome: Literal["succeeded", "failed", "stopped"]
    reason: str
    is_ours: bool = False
    """This node came to it by itself, so the others must be told."""


def say_fault(error: BaseException) -> str:
    """For what nobody foresaw."""
    return f"The runner failed: {type(error).__name__}: {error}. Its traceback is in runner.log."
