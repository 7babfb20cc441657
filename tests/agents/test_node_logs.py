"""Log slices: by byte offset, in whole lines, and in words where there is nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from agents.bundle import Bundle
from agents.node.logs import SLICE_BYTES, read_slice
from agents.wire.commands import LogSlice, LogSliceAnswer
from tests.agents.node_harness import Agent, Hub, new_id, start_command

LINES = [f"line {number}" for number in range(1000)]


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    bundle = Bundle(tmp_path / "bundles" / "a-1")
    bundle.create(start_command("node-a").message)
    write(bundle, "".join(f"{line}\n" for line in LINES).encode())
    return bundle


def write(bundle: Bundle, content: bytes, age_s: float = 60) -> None:
    path = bundle.log(2, 3, "stdout")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    written = time.time() - age_s
    os.utime(path, (written, written))


def ask(tmp_path: Path, **fields: Any) -> LogSliceAnswer:
    values: dict[str, Any] = {"attempt": "a-1", "round": 2, "rank": 3, "stream": "stdout"}
    return read_slice(LogSlice(id=new_id(), **(values | fields)), tmp_path, "node-a")


def texts(answer: LogSliceAnswer) -> list[str]:
    return [line.text for line in answer.lines]


def test_without_an_offset_the_last_lines_are_given(bundle: Bundle, tmp_path: Path) -> None:
    answer = ask(tmp_path, limit=3)
    assert texts(answer) == LINES[-3:]
    assert answer.end == answer.size == bundle.log(2, 3, "stdout").stat().st_size


def test_walking_back_gives_every_line_once(bundle: Bundle, tmp_path: Path) -> None:
    answer = ask(tmp_path, limit=7)
    seen = texts(answer)
    while answer.start > 0:
        answer = ask(tmp_path, limit=7, before=answer.start)
        seen = texts(answer) + seen
    assert seen == LINES


def test_walking_on_gives_every_line_once(bundle: Bundle, tmp_path: Path) -> None:
    answer, seen = ask(tmp_path, limit=7, after=0), []
    while answer.lines:
        seen += texts(answer)
        answer = ask(tmp_path, limit=7, after=answer.end)
    assert seen == LINES


def test_the_offset_of_each_line_is_where_it_begins(bundle: Bundle, tmp_path: Path) -> None:
    content = bundle.log(2, 3, "stdout").read_bytes()
    for line in ask(tmp_path, limit=5).lines:
        assert content[line.offset :].startswith(line.text.encode() + b"\n")


def test_one_answer_stays_within_its_size_in_both_directions(bundle: Bundle, tmp_path: Path) -> None:
    lines = [str(number) * 40_000 for number in range(10)] * 3
    write(bundle, "".join(f"{line}\n" for line in lines).encode())
    forwards, backwards = ask(tmp_path, after=0), ask(tmp_path)
    assert texts(forwards)[0] == lines[0]
    assert texts(backwards)[-1] == lines[-1]
    for answer in (forwards, backwards):
        assert 0 < answer.end - answer.start <= SLICE_BYTES


def test_a_line_longer_than_a_slice_is_given_in_parts(bundle: Bundle, tmp_path: Path) -> None:
    content = b"x" * (SLICE_BYTES * 2 + 10) + b"\nend\n"
    write(bundle, content)
    answer, seen = ask(tmp_path, after=0), ""
    while answer.lines:
        seen += "".join(texts(answer))
        answer = ask(tmp_path, after=answer.end)
    assert seen == content.decode().replace("\n", "")


def test_an_unfinished_line_is_held_back_until_its_writer_pauses(bundle: Bundle, tmp_path: Path) -> None:
    write(bundle, b"whole\nhal", age_s=0)
    assert texts(ask(tmp_path, after=0)) == ["whole"]
    write(bundle, b"whole\nhalf, and then it died")
    assert texts(ask(tmp_path, after=0)) == ["whole", "half, and then it died"]


def test_bytes_that_are_no_text_are_replaced(bundle: Bundle, tmp_path: Path) -> None:
    write(bundle, b"a\xffb\r\n")
    assert texts(ask(tmp_path)) == ["a�b"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"attempt": "a-2"}, "node-a knows no attempt 'a-2'."),
        ({"attempt": "../bundles/a-1"}, "node-a knows no attempt '../bundles/a-1'."),
        ({"round": 9}, "No worker of round 9 has run on node-a."),
        ({"rank": 1}, "Round 2 on node-a has the ranks 3, and no rank 1."),
        ({"stream": "stderr"}, "Rank 3 of round 2 on node-a has no stderr yet."),
    ],
)
def test_what_is_missing_is_said_in_words(
    fields: dict[str, Any], sentence: str, bundle: Bundle, tmp_path: Path
) -> None:
    answer = ask(tmp_path, **fields)
    assert (answer.problem, answer.lines) == (sentence, ())


def test_an_empty_log_is_no_problem(bundle: Bundle, tmp_path: Path) -> None:
    write(bundle, b"")
    assert ask(tmp_path) == LogSliceAnswer()


def test_a_node_answers_requests(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    hub.carry_out(command)
    attempt = command.message.attempt
    write(agent.bundle(attempt), b"hello\n")
    request = LogSlice(id=new_id(), attempt=attempt, round=2, rank=3, stream="stdout")
    assert texts(hub.ask(request)) == ["hello"]
