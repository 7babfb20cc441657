"""Checks before a launch as requests and answers. These names are public and stay."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from agents.wire.checks import Check

from .schemas import JobIn

VerdictWord = Literal["ok", "warn", "fail", "unknown", "running"]


class ChecksIn(JobIn):
    """A job as a launch takes it."""

    nodes_to_check: list[str] = Field(default_factory=list)
    """Empty: those on which it would run now, or else those on which it could run."""


class ChecksBegun(Schema):
    id: str


class CheckCell(Schema):
    check: Check
    verdict: VerdictWord
    """unknown: it could not be looked at, as ``says`` tells. running: the answer is still to come."""
    says: str
    what_to_do: str


class CheckRow(Schema):
    node: str
    cells: list[CheckCell]


class CheckColumn(Schema):
    check: Check
    title: str


class JobChecksOut(Schema):
    """The checks of one job's launch."""

    asked: Literal["require", "warn", "skip"]
    """What the launch asked for."""
    told: ChecksOut | None
    """What they found then. None: nothing is kept, as ``says`` tells."""
    says: str


class ChecksOut(Schema):
    """A row for each node, with a cell for each check."""

    id: str
    is_over: bool
    began_at: datetime
    columns: list[CheckColumn]
    rows: list[CheckRow]
    failing: int
    """Cells that fail, and nodes that do not answer."""
    warnings: int
    says: str
