"""How a runner ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["succeeded", "failed", "stopped"]


@dataclass(frozen=True)
class Ending:
    outcome: Outcome
    reason: str
    is_ours: bool = False
    """This node came to it by itself, so the others must be told."""
    is_requested: bool = False
    """Somebody asked this runner to end."""
    is_infrastructure: bool = False
    """It was no fault of the job's: a new attempt may do better."""
    for_others: str = ""
    """What the others are told, where that is not the reason."""


class GivenUp(Exception):
    """The attempt ends here, by a rule of the job's. The text is for the operator.

    ``is_mine``: this node is the one that it failed on. ``is_infrastructure``: a new attempt may do better.
    """

    def __init__(self, why: str, is_mine: bool = True, is_infrastructure: bool = False) -> None:
        super().__init__(why)
        self.is_mine, self.is_infrastructure = is_mine, is_infrastructure


def say_fault(error: BaseException) -> str:
    """For what nobody foresaw."""
    return f"The runner failed: {type(error).__name__}: {error}. Its traceback is in runner.log."
