"""Searching logs on their node: what matches, how far it came, and that no pattern holds the agent up."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from agents.bundle import Bundle
from agents.logs import search as log_search
from agents.logs import times
from agents.node.log_merging import search_lines
from agents.wire.log_requests import LogMergeAnswer, LogSearch
from tests.agents.node_harness import new_id, start_command

T = 1_764_500_000_000


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    bundle = Bundle(tmp_path / "bundles" / "a-1")
    bundle.create(start_command("node-a").message)
    return bundle


def write(bundle: Bundle, data: bytes, rank: int = 0, stream: str = "stdout", at_ms: int = T) -> None:
    path = bundle.log(1, rank, stream)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)
    times.append(path, times.encode(at_ms, path.stat().st_size, 250))


def find(tmp_path: Path, pattern: str, **fields: Any) -> LogMergeAnswer:
    values: dict[str, Any] = {"id": new_id(), "attempt": "a-1", "round": 1, "limit_s": 30.0}
    values["pattern"] = pattern
    return search_lines(LogSearch(**values | fields), tmp_path, "node-a")


def texts(answer: LogMergeAnswer) -> list[str]:
    return [line.text for line in answer.lines]


def test_hits_of_all_ranks_come_by_time_with_their_places(bundle: Bundle, tmp_path: Path) -> None:
    write(bundle, b"step 1\nloss 2.5\n", rank=0)
    write(bundle, b"step 1\nLOSS 2.25\n", rank=1, stream="stderr", at_ms=T + 1000)
    write(bundle, b"loss 2.0\n", rank=0, at_ms=T + 2000)
    answer = find(tmp_path, r"loss \d")
    assert [(line.rank, line.stream, line.offset, line.text) for line in answer.lines] == [
        (0, "stdout", 7, "loss 2.5"),
        (1, "stderr", 7, "LOSS 2.25"),
        (0, "stdout", 16, "loss 2.0"),
    ]
    assert (answer.first, answer.unsearched) == (None, 0)
    assert texts(find(tmp_path, "LOSS", is_case_sensitive=True)) == ["LOSS 2.25"]
    assert texts(find(tmp_path, "loss", rank=1)) == ["LOSS 2.25"]
    assert texts(find(tmp_path, "gradient")) == []


def test_lines_are_searched_as_they_are_shown(bundle: Bundle, tmp_path: Path) -> None:
    write(bundle, b"lo\x1b[31mss\x1b[0m 1\n10%\r50%\r100%\n\xff\x00\xfeloss 2\n")
    assert len(find(tmp_path, "loss").lines) == 2
    assert len(find(tmp_path, "^100%$").lines) == 1
    assert find(tmp_path, "50%").lines == ()


def test_one_answer_holds_the_newest_and_says_where_to_go_on(bundle: Bundle, tmp_path: Path) -> None:
    for rank in range(3):
        write(bundle, b"".join(b"hit %d %d\n" % (rank, n) for n in range(200)), rank=rank, at_ms=T + rank)
    seen: list[str] = []
    answer = find(tmp_path, "hit", limit=90)
    assert len(answer.lines) == 90
    seen = texts(answer)
    while answer.first is not None:
        answer = find(tmp_path, "hit", limit=90, before=answer.first)
        seen = texts(answer) + seen
    assert seen == [f"hit {rank} {n}" for rank in range(3) for n in range(200)]


def test_a_pattern_that_never_ends_is_ended_and_what_was_found_before_counts(
    bundle: Bundle, tmp_path: Path
) -> None:
    write(bundle, b"a" * 40 + b"!\n" + (b"x" * 1000 + b"\n") * 600 + b"aaaa\n")
    begun = time.monotonic()
    answer = find(tmp_path, "^(a+)+$", limit_s=3.0)
    assert time.monotonic() - begun < 30
    assert texts(answer) == ["aaaa"]
    assert answer.unsearched > 0
    assert answer.first is not None
    again = find(tmp_path, "^(a+)+$", limit_s=1.0, before=answer.first)
    assert (again.lines, again.unsearched > 0) == ((), True)


def test_a_pattern_that_cannot_be_read_is_said_so(bundle: Bundle, tmp_path: Path) -> None:
    write(bundle, b"a\n")
    problem = find(tmp_path, "(").problem
    assert problem is not None
    assert problem.startswith("On node-a: The pattern cannot be read: ")


def test_a_third_search_at_the_same_time_is_put_off(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(bundle, b"a\n")
    monkeypatch.setattr(log_search, "WAIT_S", 0.01)
    with log_search.AT_ONCE, log_search.AT_ONCE:
        assert "Two searches are running already" in str(find(tmp_path, "a").problem)
    assert texts(find(tmp_path, "a")) == ["a"]
