"""The journal: numbered without gaps by one writer, whole again after a torn write."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agents.journal import Journal, Line, last_line, read_lines, repair
from agents.wire.runner_events import WorkersFinished


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def open_journal(path: Path) -> Journal:
    return Journal(path, "run/a/n/1", attempt="a", node="n")


def write(path: Path, count: int) -> Journal:
    journal = open_journal(path)
    for number in range(count):
        journal.record(WorkersFinished, round=number)
    return journal


def seqs(path: Path) -> list[int | None]:
    return [line.seq for line in read_lines(path, 0)[0]]


def rounds(path: Path) -> list[int]:
    return [json.loads(line.text)["round"] for line in read_lines(path, 0)[0]]


def test_records_are_numbered_from_one_and_name_their_source(path: Path) -> None:
    write(path, 3)
    records = [json.loads(line.text) for line in read_lines(path, 0)[0]]
    assert [record["seq"] for record in records] == [1, 2, 3]
    assert {(record["source"], record["attempt"], record["node"]) for record in records} == {
        ("run/a/n/1", "a", "n")
    }


def test_the_next_writer_goes_on_with_the_next_number(path: Path) -> None:
    write(path, 2).close()
    assert write(path, 1).last_seq == 3
    assert seqs(path) == [1, 2, 3]


def test_a_reader_goes_on_where_it_was_and_leaves_a_torn_line(path: Path) -> None:
    journal = write(path, 2)
    _, offset = read_lines(path, 0)
    journal.record(WorkersFinished, round=9)
    with path.open("a") as file:
        file.write('{"seq":4,"torn')
    lines, offset = read_lines(path, offset)
    assert [line.seq for line in lines] == [3]
    assert read_lines(path, offset) == ([], offset)


def test_a_torn_last_line_is_cut_and_counted(path: Path) -> None:
    write(path, 2).close()
    with path.open("a") as file:
        file.write('{"seq":3,"torn')
    mended = repair(path)
    assert (mended.last_seq, mended.cut_bytes) == (2, len('{"seq":3,"torn'))
    assert repair(path).cut_bytes == 0
    assert write(path, 1).last_seq == 3


def test_a_line_that_cannot_be_read_keeps_its_place(path: Path) -> None:
    write(path, 1).close()
    with path.open("ab") as file:
        file.write(b"\xff broken \r in two\n")
    assert seqs(path) == [1, None]
    assert write(path, 1).last_seq == 3


@pytest.mark.parametrize(
    ("content", "last_seq", "cut_bytes"),
    [
        (b"", 0, 0),
        (b"torn", 0, 4),
        (b"x\ny\n", 2, 0),
        (b'{"seq":7}\nx\ny\n{"seq', 9, 5),
        (b'\n\n{"seq":3}\n', 3, 0),
        (b'{"seq":3}\n\n', 4, 0),
    ],
)
def test_the_last_number_counts_lines_that_cannot_be_read(
    content: bytes, last_seq: int, cut_bytes: int, path: Path
) -> None:
    path.write_bytes(content)
    mended = repair(path)
    assert (mended.last_seq, mended.cut_bytes) == (last_seq, cut_bytes)
    assert path.read_bytes() == content[: len(content) - cut_bytes]


def test_a_journal_longer_than_one_read_is_read_in_parts(path: Path) -> None:
    write(path, 50)
    found: list[int | None] = []
    offset = 0
    while True:
        lines, next_offset = read_lines(path, offset, limit_bytes=100)
        if next_offset == offset:
            break
        found += [line.seq for line in lines]
        offset = next_offset
    assert found == list(range(1, 51))


def test_the_last_line_is_found(path: Path) -> None:
    assert last_line(path) is None
    write(path, 3)
    last = last_line(path)
    assert isinstance(last, Line)
    assert last.seq == 3


def test_a_journal_that_is_not_there_has_no_lines(path: Path) -> None:
    assert read_lines(path, 0) == ([], 0)
    assert repair(path).last_seq == 0


def test_a_full_disk_is_said_once_and_what_waits_is_written_when_there_is_room(
    path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    journal = write(path, 1)

    def full(_file: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        journal.record(WorkersFinished, round=2)
        journal.record(WorkersFinished, round=3)
        assert not journal.flush()
        assert journal.problem == "No space left on device"
    assert capfd.readouterr().err.count("cannot be written") == 1
    assert seqs(path) == [1]
    journal.record(WorkersFinished, round=4)
    assert seqs(path) == [1, 2, 3, 4]
    assert rounds(path) == [0, 2, 3, 4]
    assert journal.problem == ""
    assert "can be written again" in capfd.readouterr().err


def test_more_than_memory_may_hold_is_dropped_without_a_number(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = write(path, 1)
    monkeypatch.setattr("agents.journal.MOST_WAITING", 2)

    def full(_file: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        for number in (2, 3, 4, 5):
            journal.record(WorkersFinished, round=number)
    assert journal.flush()
    journal.record(WorkersFinished, round=6)
    assert seqs(path) == [1, 2, 3, 4]
    assert rounds(path) == [0, 2, 3, 6]


def test_a_record_of_which_the_disk_took_only_a_part_is_written_whole_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = write(path, 1)
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: real(file, data[:10]))
        journal.record(WorkersFinished, round=2)
        assert seqs(path) == [1]
    journal.record(WorkersFinished, round=3)
    assert seqs(path) == [1, 2, 3]
