"""Several jobs at once, as requests and answers. These names are public and stay."""

from __future__ import annotations

from typing import Annotated

from ninja import Schema
from pydantic import Field

MOST = 200


class StopManyIn(Schema):
    ids: Annotated[list[Annotated[int, Field(ge=1, lt=1 << 63)]], Field(min_length=1, max_length=MOST)]
    reason: str = ""


class StopResult(Schema):
    id: int
    name: str
    state: str | None
    """As it is now: stopping, until its nodes have shown that it has stopped. None: there is no such job."""
    problem: str
    """Why it was not asked to stop, as a sentence. Empty: it was."""


class StopManyOut(Schema):
    items: list[StopResult]
