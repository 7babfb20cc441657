"""All ranks of a node as one log by time, and the notes that tell the times."""

from __future__ import annotations

import base64
import os
import random
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.bundle import Bundle
from agents.logs import times
from agents.node.log_bytes import read_bytes
from agents.node.log_merging import read_merged
from agents.node.logs import read_slice
from agents.runner.log_times import LogTimes
from agents.wire.commands import LogSlice
from agents.wire.log_requests import LogBytes, LogMerge, LogMergeAnswer
from tests.agents.node_harness import new_id, start_command

T = 1_764_500_000_000

Write = Callable[[int, str, bytes, int], None]


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    bundle = Bundle(tmp_path / "bundles" / "a-1")
    bundle.create(start_command("node-a").message)
    return bundle


@pytest.fixture
def write(bundle: Bundle) -> Write:
    """Add to a stream, and note that it was at that time, as the runner does."""

    def add(rank: int, stream: str, data: bytes, at_ms: int) -> None:
        path = bundle.log(1, rank, stream)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(data)
        times.append(path, times.encode(at_ms, path.stat().st_size, 250))
        os.utime(path, (at_ms / 1000, at_ms / 1000))

    return add


def ask(tmp_path: Path, **fields: Any) -> LogMergeAnswer:
    values: dict[str, Any] = {"id": new_id(), "attempt": "a-1", "round": 1}
    return read_merged(LogMerge(**values | fields), tmp_path, "node-a")


def texts(answer: LogMergeAnswer) -> list[str]:
    return [line.text for line in answer.lines]


def write_by_turns(write: Write) -> None:
    """Lines of six streams in a mixed order; most notes are taken in the middle of a line."""
    chance, rest = random.Random(7), dict[tuple[int, str], bytes]()
    for tick in range(120):
        to = chance.randrange(3), chance.choice(("stdout", "stderr"))
        lines = [f"tick {tick} rank {to[0]} {to[1]} {n}\n".encode() for n in range(chance.randrange(1, 5))]
        fresh = b"".join(lines)
        cut = chance.randrange(len(fresh))
        write(*to, rest.pop(to, b"") + fresh[:cut], T + 250 * tick)
        rest[to] = fresh[cut:]
    for to, data in rest.items():
        write(*to, data, T + 250 * 200)


def walk_back(tmp_path: Path, limit: int) -> list[tuple[int, str, int, str]]:
    seen: list[tuple[int, str, int, str]] = []
    answer = ask(tmp_path, limit=limit)
    while True:
        seen = [(one.rank, one.stream, one.offset, one.text) for one in answer.lines] + seen
        if answer.first is None:
            return seen
        answer = ask(tmp_path, limit=limit, before=answer.first)


def walk_on(tmp_path: Path, limit: int) -> list[tuple[int, str, int, str]]:
    seen: list[tuple[int, str, int, str]] = []
    answer = ask(tmp_path, limit=limit, after="0.0.0.0")
    while answer.lines:
        seen += [(one.rank, one.stream, one.offset, one.text) for one in answer.lines]
        answer = ask(tmp_path, limit=limit, after=answer.last)
    return seen


def everything(bundle: Bundle) -> set[tuple[int, str, int, str]]:
    found = set()
    for rank in range(3):
        for stream in ("stdout", "stderr"):
            offset = 0
            for line in bundle.log(1, rank, stream).read_bytes().splitlines(keepends=True):
                found.add((rank, stream, offset, line.decode().removesuffix("\n")))
                offset += len(line)
    return found


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_pages_in_both_directions_give_every_line_of_every_rank_once(
    bundle: Bundle, write: Write, tmp_path: Path, limit: int
) -> None:
    write_by_turns(write)
    back, on = walk_back(tmp_path, limit), walk_on(tmp_path, limit)
    assert len(back) == len(on) == len(everything(bundle))
    assert set(back) == set(on) == everything(bundle)


def test_lines_are_in_the_order_in_which_they_were_written(write: Write, tmp_path: Path) -> None:
    write(0, "stdout", b"zero begins\n", T)
    write(1, "stdout", b"one begins\n", T + 500)
    write(0, "stderr", b"zero warns\n", T + 1000)
    write(1, "stdout", b"one ends\n", T + 1500)
    assert texts(ask(tmp_path)) == ["zero begins", "one begins", "zero warns", "one ends"]
    assert texts(ask(tmp_path, stream="stdout", rank=1)) == ["one begins", "one ends"]


def test_a_place_in_time_lies_between_what_was_before_and_after(write: Write, tmp_path: Path) -> None:
    for second in range(5):
        write(second % 2, "stdout", f"second {second}\n".encode(), T + 1000 * second)
    place = f"{T + 2000}.0.0.0"
    assert texts(ask(tmp_path, before=place)) == ["second 0", "second 1"]
    assert texts(ask(tmp_path, after=place)) == ["second 2", "second 3", "second 4"]


def test_a_line_is_told_by_the_time_at_which_it_began(write: Write, tmp_path: Path) -> None:
    write(0, "stdout", b"begun ", T)
    write(0, "stdout", b"and ended\nnext\n", T + 1000)
    answer = ask(tmp_path)
    assert [(line.text, line.at_ms, line.within_ms) for line in answer.lines] == [
        ("begun and ended", T, 250),
        ("next", T + 1000, 250),
    ]


def test_the_moments_that_are_not_settled_yet_are_left_for_the_next_page(
    bundle: Bundle, write: Write, tmp_path: Path
) -> None:
    now = int(time.time() * 1000)
    write(0, "stdout", b"old\n", now - 60_000)
    write(1, "stdout", b"just now\n", now + 60_000)
    answer = ask(tmp_path)
    assert texts(answer) == ["old"]
    assert answer.last is not None
    assert int(answer.last.split(".")[0]) < now + 1000


def test_what_a_dead_runner_has_not_noted_is_given_by_the_time_of_the_file(
    bundle: Bundle, write: Write, tmp_path: Path
) -> None:
    write(0, "stdout", b"noted\n", T)
    with bundle.log(1, 0, "stdout").open("ab") as file:
        file.write(b"last words\n")
    os.utime(bundle.log(1, 0, "stdout"), ((T + 5000) / 1000, (T + 5000) / 1000))
    answer = ask(tmp_path)
    assert [(line.text, line.at_ms, line.within_ms) for line in answer.lines] == [
        ("noted", T, 250),
        ("last words", T + 5000, 5000),
    ]


def test_a_log_of_which_nothing_was_noted_is_all_of_one_time(bundle: Bundle, tmp_path: Path) -> None:
    path = bundle.log(1, 0, "stdout")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"a\nb\n")
    os.utime(path, (T / 1000, T / 1000))
    assert [(line.text, line.at_ms, line.within_ms) for line in ask(tmp_path).lines] == [
        ("a", T, None),
        ("b", T, None),
    ]


def test_one_stream_is_read_from_a_time_on(write: Write, tmp_path: Path) -> None:
    for second in range(5):
        write(0, "stdout", f"second {second}\n".encode(), T + 1000 * second)
    request = LogSlice(id=new_id(), attempt="a-1", round=1, rank=0, stream="stdout", at_ms=T + 3000)
    answer = read_slice(request, tmp_path, "node-a")
    assert [line.text for line in answer.lines] == ["second 3", "second 4"]
    assert answer.start == len("second 0\n") * 3


@pytest.mark.parametrize("place", ["", "1.2.3", "a.b.c.d", "-1.0.0.0", f"{10**30}.0.0.0"])
def test_a_place_that_is_none_is_said_so(write: Write, tmp_path: Path, place: str) -> None:
    write(0, "stdout", b"a\n", T)
    problem = ask(tmp_path, after=place).problem if place else "is no place in a log"
    assert problem is not None
    assert problem.endswith("is no place in a log")


def test_a_round_that_the_node_does_not_have_is_said_so(bundle: Bundle, tmp_path: Path) -> None:
    assert ask(tmp_path).problem == "No worker of round 1 has run on node-a."


def test_the_runner_notes_growth_and_nothing_else(bundle: Bundle) -> None:
    path = bundle.log(1, 0, "stdout")
    path.parent.mkdir(parents=True)
    watched = LogTimes(bundle, 1, [0])
    path.write_bytes(b"first\n")
    watched.look(flush=True)
    watched.look(flush=True)
    path.write_bytes(b"first\nsecond\n")
    watched.look(flush=True)
    noted = times.read_times(path)
    first, second = noted.at(0), noted.at(6)
    assert first is not None
    assert second is not None
    assert first.at_ms <= second.at_ms <= time.time() * 1000
    assert noted.at(13) is None
    assert times.times_path(path).stat().st_size == 2 * times.NOTE_BYTES
    assert not times.times_path(bundle.log(1, 0, "stderr")).exists()


def test_notes_stay_small_and_thinned_ones_still_hold(
    write: Write, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(times, "MOST_BYTES", 40 * times.NOTE_BYTES)
    for number in range(300):
        write(0, "stdout", f"{number:03}\n".encode(), T + 250 * number)
    path = bundle.log(1, 0, "stdout")
    assert times.times_path(path).stat().st_size <= times.MOST_BYTES
    noted = times.read_times(path)
    for number in range(300):
        moment = noted.at(4 * number)
        assert moment is not None
        assert moment.within_ms is not None
        assert moment.at_ms - moment.within_ms <= T + 250 * number <= moment.at_ms


def test_bytes_are_given_as_they_are(write: Write, tmp_path: Path) -> None:
    data = bytes(range(256)) * 1000
    write(0, "stdout", data, T)
    got, start = b"", 0
    while start < len(data):
        request = LogBytes(
            id=new_id(), attempt="a-1", round=1, rank=0, stream="stdout", start=start, limit=100_000
        )
        answer = read_bytes(request, tmp_path, "node-a")
        assert answer.size == len(data)
        got += zlib.decompress(base64.b64decode(answer.data))
        start = answer.end
    assert got == data
