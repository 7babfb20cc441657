"""torchrun's command line, and what a launch means, as requests and answers. These names are public."""

from __future__ import annotations

from ninja import Schema
from pydantic import Field

from webapp.schemas import Fault

from .schemas import SpecIn

LONGEST = 20_000


class CommandIn(Schema):
    command: str = Field(max_length=LONGEST)
    """A torchrun line, or a shell text with one in it."""
    workdir: str | None = None
    """The folder in which it would be typed: where relative paths begin."""


class RemarkOut(Schema):
    flag: str
    """What stands at that place."""
    position: int
    """Where in ``command`` it begins, in characters from 0."""
    length: int
    message: str


class ParsedOut(Schema):
    spec: SpecIn
    name: str
    """What the text calls the job, as SLURM's --job-name. Empty: nothing."""
    problems: list[RemarkOut]
    """What keeps the line from meaning the same here, each at its place. Empty: nothing does."""
    stripped: list[RemarkOut]
    """What was left out or settled, and why that changes nothing or what to do."""


class TorchrunOut(Schema):
    command: str
    notes: list[str]
    """What the line cannot say, a sentence each."""


class WarningOut(Schema):
    field: str
    message: str
    what_to_do: str


class SettingOut(Schema):
    name: str
    value: str
    why: str
    """Where the value is from."""


class CheckedOut(Schema):
    """What a launch means, before it is one."""

    sentence: str
    faults: list[Fault]
    """What keeps it from being launched."""
    warnings: list[WarningOut]
    effective: list[SettingOut]
    """What will hold, also where nothing was written."""
