"""A member's folded state as its row keeps it, and back."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from agents.wire.lifecycle import RunnerState

from .models import Member

_states: TypeAdapter[RunnerState] = TypeAdapter(RunnerState)


def state_to_dict(state: RunnerState) -> dict[str, Any]:
    dumped: dict[str, Any] = _states.dump_python(state, mode="json")
    return dumped


def state_from_dict(values: dict[str, Any]) -> RunnerState:
    """An empty object is a runner of which nothing has been heard."""
    return _states.validate_python(values)


def runner_of(member: Member) -> RunnerState:
    return state_from_dict(member.folded)


def incarnation_of(source: str) -> int:
    """Which runner of its node writes the journal of that name."""
    number = source.rpartition("/")[2]
    return int(number) if number.isascii() and number.isdecimal() else 1
