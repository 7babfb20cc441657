"""How a command may end. A handler returns ``Done`` with its evidence, or raises one of the others."""

from __future__ import annotations

from dataclasses import dataclass, field

Evidence = dict[str, str | int | float]


@dataclass(frozen=True)
class Done:
    reason: str
    evidence: Evidence = field(default_factory=dict)


class Refused(Exception):
    """Nothing was done; the text says why, in a sentence."""


class Failed(Exception):
    """It was tried; the text says why it did not come true, in a sentence."""
