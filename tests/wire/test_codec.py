"""The wire as it is written down: one golden file for each kind of message, which is never edited to pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from agents.wire import codec
from agents.wire.commands import AnyCommand, AnyRequest, LogLine, LogSlice, LogSliceAnswer
from agents.wire.events import AnyEvent
from agents.wire.plain import start_message_from_json
from agents.wire.runner_events import WorkerExited

GOLDEN = Path(__file__).parent / "golden"

Read = Callable[[str], object]


def _members(union: Any) -> tuple[type[Any], ...]:
    """The classes of a union; a union of one is that class itself."""
    return get_args(union) or (union,)


def _kinds(union: Any, read: Read) -> list[tuple[type[Any], Read]]:
    return [(cls, read) for cls in _members(union)]


MESSAGES = [
    *_kinds(AnyEvent, codec.read_event),
    *_kinds(AnyCommand, codec.read_command),
    *_kinds(AnyRequest, codec.read_request),
]
READERS = [codec.read_event, codec.read_command, codec.read_request]

each_message = pytest.mark.parametrize(("cls", "read"), MESSAGES, ids=[cls.kind for cls, _ in MESSAGES])


def golden(cls: type[Any]) -> dict[str, Any]:
    path = GOLDEN / f"{cls.kind}.json"
    assert path.exists(), f"{cls.__name__} has no golden file: write {path.name} beside the others"
    values: dict[str, Any] = json.loads(path.read_text())
    return values


@each_message
def test_a_golden_message_is_read_as_its_kind_and_written_as_it_was(cls: type[Any], read: Read) -> None:
    values = golden(cls)
    message = read(json.dumps(values))
    assert type(message) is cls
    assert json.loads(codec.to_json(message)) == values


@each_message
def test_fields_of_a_later_version_are_ignored(cls: type[Any], read: Read) -> None:
    values = golden(cls)
    later = _with_unknown_fields(values)
    assert read(json.dumps(later)) == read(json.dumps(values))


def _with_unknown_fields(value: Any, is_map: bool = False) -> Any:
    """A field more in each object, except in those whose keys are data."""
    if isinstance(value, list):
        return [_with_unknown_fields(item) for item in value]
    if not isinstance(value, dict):
        return value
    maps = {"env", "rdzv_conf", "metrics", "evidence", "absent", "labels"}
    more = {} if is_map else {"from_a_later_version": {"x": 1}}
    return {key: _with_unknown_fields(item, key in maps) for key, item in value.items()} | more


def test_no_golden_file_is_left_of_a_kind_that_is_gone() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == {cls.kind for cls, _ in MESSAGES}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("kind", ["from_a_later_version", None, 3, ["runner_started"]])
def test_a_kind_that_is_not_known_is_told_from_nonsense(read: Read, kind: object) -> None:
    with pytest.raises(codec.UnknownKind, match="is not known to this version"):
        read(json.dumps({"kind": kind, "id": "c-1"}))


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '"kind"', "\x00"])
def test_what_is_no_message_is_unreadable_and_says_so(read: Read, text: str) -> None:
    with pytest.raises(codec.Unreadable, match="not a JSON message with a kind"):
        read(text)


@each_message
def test_a_known_kind_without_its_fields_is_unreadable(cls: type[Any], read: Read) -> None:
    with pytest.raises(codec.Unreadable) as caught:
        read(json.dumps({"kind": cls.kind}))
    assert not isinstance(caught.value, codec.UnknownKind)
    assert "required" in str(caught.value)


def test_a_value_outside_its_words_is_unreadable() -> None:
    values = golden(WorkerExited) | {"role": "bystander"}
    with pytest.raises(codec.Unreadable, match="role"):
        codec.read_event(json.dumps(values))


def test_an_answer_comes_back_as_it_was_given() -> None:
    answer = LogSliceAnswer(lines=(LogLine(offset=3, text="é\n"),), start=3, end=7, size=9)
    assert codec.read_answer(codec.to_json(answer)) == answer
    with pytest.raises(codec.Unreadable):
        codec.read_answer("{")


def test_a_start_message_is_read_alike_with_and_without_pydantic() -> None:
    values = json.loads((GOLDEN / "start_runner.json").read_text())
    command = codec.read_command(json.dumps(values))
    later = _with_unknown_fields(values["message"])
    assert start_message_from_json(json.dumps(later)) == getattr(command, "message", None)


def test_a_message_is_one_line_of_text() -> None:
    request = LogSlice(id="a\nb", attempt="ä", round=1, rank=0, stream="stdout")
    assert "\n" not in codec.to_json(request)
    assert codec.read_request(codec.to_json(request)) == request
