"""Where a job may run and when it has its turn, beside torchrun's words. These names are public and stay."""

from __future__ import annotations

from typing import Literal

from ninja import Schema
from pydantic import Field

from .queue import HIGHEST, LOWEST


class PlacingIn(Schema):
    priority: int = Field(default=0, ge=LOWEST, le=HIGHEST)
    """Higher ones come first. One point is worth six minutes of waiting."""
    placement: Literal["spread", "pack"] = "spread"
    """spread: the emptiest nodes first. pack: the fullest ones that still have room."""
    nodes_selector: dict[str, str] = Field(default_factory=dict)
    """Labels that each node must have."""
    node_names: list[str] = Field(default_factory=list)
    """It runs on these nodes alone. Empty: on any."""
    gpu_model: str = ""
    """A part of the name of a GPU that each node must have, such as H100."""
    gpus_per_node: int = Field(default=0, ge=0)
    """GPUs, of that model if one is named, that each node must have."""
    checkpoint_dir: str | None = None
    """Where the script keeps its checkpoints, for the checks before start."""
    checks: Literal["require", "warn", "skip"] = "skip"
    """require: a check that fails refuses the launch. warn: it is noted on the job. skip: none is made."""


class PlacingOut(PlacingIn):
    checks_said: list[str] = Field(default_factory=list)
    """What the checks before the launch found, where it went ahead all the same."""


class PlaceOut(Schema):
    node: str
    slots: int


class PreviewOut(Schema):
    """Where a job would run if it were launched now. Nothing is launched."""

    runs_on: list[PlaceOut]
    """The store's host first. Empty: it would wait."""
    says: str
    """All of it in a sentence or two."""
    in_the_way: list[str]
    """What keeps it from starting, or keeps nodes out, a sentence each."""
    place: int | None
    """Its place in the queue, from 1. None: it would not wait."""
    waiting: int
    """How many jobs would wait, this one included."""
