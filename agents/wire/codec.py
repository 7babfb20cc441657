"""Reading messages that came from elsewhere: checked by pydantic, refused with a reason."""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, TypeVar, get_args

from pydantic import Field, TypeAdapter, ValidationError

from .commands import AnyCommand, AnyRequest, LogSliceAnswer
from .events import AnyEvent
from .plain import to_json

__all__ = [
    "UnknownKind",
    "Unreadable",
    "read_answer",
    "read_answer_as",
    "read_command",
    "read_event",
    "read_request",
    "to_json",
]

EVENT_KINDS = frozenset(cls.__dataclass_fields__["kind"].default for cls in get_args(AnyEvent))
COMMAND_KINDS = frozenset(cls.__dataclass_fields__["kind"].default for cls in get_args(AnyCommand))
REQUEST_KINDS = frozenset(cls.__dataclass_fields__["kind"].default for cls in get_args(AnyRequest))

A = TypeVar("A")


# Each takes a while to make, and a process reads one or two of these: so it is made for the first message.
@cache
def _events() -> TypeAdapter[AnyEvent]:
    return TypeAdapter(Annotated[AnyEvent, Field(discriminator="kind")])


@cache
def _commands() -> TypeAdapter[AnyCommand]:
    return TypeAdapter(Annotated[AnyCommand, Field(discriminator="kind")])


@cache
def _requests() -> TypeAdapter[AnyRequest]:
    return TypeAdapter(Annotated[AnyRequest, Field(discriminator="kind")])


@cache
def _answers() -> TypeAdapter[LogSliceAnswer]:
    return TypeAdapter(LogSliceAnswer)


class Unreadable(ValueError):
    """The text is not a message of ours. The reason is meant to be shown."""


class UnknownKind(Unreadable):
    """A well-formed message of a kind that this version does not know."""


def _kind_known(text: str | bytes, kinds: frozenset[str]) -> None:
    try:
        kind = json.loads(text)["kind"]
    except (ValueError, TypeError, KeyError) as error:
        raise Unreadable(f"not a JSON message with a kind: {error!r}") from error
    if not isinstance(kind, str) or kind not in kinds:
        raise UnknownKind(f"kind {kind!r} is not known to this version")


def read_event(text: str | bytes) -> AnyEvent:
    """Raises ``UnknownKind`` or ``Unreadable``."""
    _kind_known(text, EVENT_KINDS)
    try:
        return _events().validate_json(text)
    except ValidationError as error:
        raise Unreadable(str(error)) from error


def read_command(text: str | bytes) -> AnyCommand:
    """Raises ``UnknownKind`` or ``Unreadable``."""
    _kind_known(text, COMMAND_KINDS)
    try:
        return _commands().validate_json(text)
    except ValidationError as error:
        raise Unreadable(str(error)) from error


def read_request(text: str | bytes) -> AnyRequest:
    """Raises ``UnknownKind`` or ``Unreadable``."""
    _kind_known(text, REQUEST_KINDS)
    try:
        return _requests().validate_json(text)
    except ValidationError as error:
        raise Unreadable(str(error)) from error


def read_answer(text: str | bytes) -> LogSliceAnswer:
    """Raises ``Unreadable``."""
    try:
        return _answers().validate_json(text)
    except ValidationError as error:
        raise Unreadable(str(error)) from error


def read_answer_as(kind: type[A], text: str | bytes) -> A:
    """The answer to a request of another kind. Raises ``Unreadable``."""
    try:
        return TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        raise Unreadable(str(error)) from error
