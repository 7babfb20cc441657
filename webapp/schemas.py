"""Shapes that all apps' answers share."""

from __future__ import annotations

from ninja import Schema
from pydantic import BaseModel


class Answer(BaseModel):
    """Made from values. ninja's ``Schema`` looks up each field of each object as if it were a row's."""


class Fault(Schema):
    """One thing that is wrong: where it is, what it is, what to do about it."""

    where: str
    """A field of the request, a header, or the path."""
    message: str
    what_to_do: str = ""


class ErrorAnswer(Schema):
    """Every answer with status 4xx or 5xx."""

    what: str
    """A whole sentence."""
    where: str = ""
    what_to_do: str = ""
    reason: str
    """A short word for programs, such as ``not_found`` or ``worker_replaced``."""
    faults: list[Fault] = []
