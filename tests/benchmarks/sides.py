"""What is measured looks the same from either side: something that launches jobs of the same script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .cases import Kind, Shape
from .marks import Marks
from .phases import Kill

SCRIPT = Path(__file__).with_name("training.py")
MAX_RESTARTS = 1000
"""So that a budget ends no job here, whatever a kill spends."""


@dataclass(frozen=True)
class Account:
    """What a side itself says of a kill."""

    phases: dict[str, float]
    """Seconds of each; empty when it was not recovered."""
    failure_restarts: int


class Job(Protocol):
    @property
    def marks(self) -> Marks: ...

    @property
    def launched_at(self) -> float:
        """Right before it was asked for, by the monotonic clock."""

    def before_kill(self) -> None: ...

    def account(self, kill: Kill) -> Account | None:
        """None: this side tells nothing of its kills."""

    def change(self, kind: Kind) -> float:
        """Take a node away, or add one; gives when that began, by the monotonic clock."""

    def undo(self, kind: Kind) -> bool:
        """Set out to bring it back to its shape. False: it is to be ended and launched anew."""

    def restarts_spent(self) -> int | None:
        """Failure restarts since the last such question. None: this side does not tell."""

    def has_ended(self) -> bool: ...

    def says(self) -> str:
        """How it is doing, or where to read that."""

    def end(self) -> None:
        """End it and all its processes; twice does no harm."""


class Side(Protocol):
    @property
    def name(self) -> str: ...

    def launch(self, shape: Shape, folder: Path, arguments: Sequence[str]) -> Job:
        """Launch the script with these arguments beside its own; the folder is made for it."""
