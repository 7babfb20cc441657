"""Logs stay within their job's cap, and readers keep their places."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.bundle import Bundle
from agents.node import log_caps
from agents.node.log_caps import BLOCK_BYTES, SLACK_BYTES, LogCaps
from agents.node.logs import read_slice
from agents.node.troubles import Troubles
from agents.wire.commands import LogSlice, LogSliceAnswer
from tests.agents.node_harness import new_id, start_command

CAP = 1 << 20
LINES = [f"line {number:07}" for number in range(400_000)]
WHOLE = "".join(f"{line}\n" for line in LINES).encode()


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    bundle = Bundle(tmp_path / "bundles" / "a-1")
    bundle.create(start_command("node-a", log_max_bytes=CAP).message)
    path = bundle.log(1, 0, "stdout")
    path.parent.mkdir(parents=True)
    path.write_bytes(WHOLE)
    return bundle


def ask(tmp_path: Path, **fields: Any) -> LogSliceAnswer:
    values: dict[str, Any] = {"attempt": "a-1", "round": 1, "rank": 0, "stream": "stdout"}
    return read_slice(LogSlice(id=new_id(), **(values | fields)), tmp_path, "node-a")


def on_disk(path: Path) -> int:
    return path.stat().st_blocks * 512


def test_the_beginning_goes_and_what_is_left_keeps_its_offsets(bundle: Bundle, tmp_path: Path) -> None:
    LogCaps(tmp_path, Troubles()).look()
    path = bundle.log(1, 0, "stdout")
    assert on_disk(path) <= CAP + 2 * BLOCK_BYTES
    assert path.stat().st_size == len(WHOLE)
    answer = ask(tmp_path, after=0, limit=3)
    assert answer.dropped == pytest.approx(len(WHOLE) - CAP, abs=BLOCK_BYTES)
    for line in answer.lines:
        assert WHOLE[line.offset :].startswith(line.text.encode() + b"\n")
        assert line.text in LINES[-CAP // 12 :]


def test_reading_back_ends_where_the_hole_does(bundle: Bundle, tmp_path: Path) -> None:
    LogCaps(tmp_path, Troubles()).look()
    answer, seen = ask(tmp_path, limit=5000), 0
    while answer.lines and answer.start > answer.dropped:
        seen += len(answer.lines)
        answer = ask(tmp_path, limit=5000, before=answer.start)
    assert "\0" not in "".join(line.text for line in answer.lines)
    assert seen + len(answer.lines) == pytest.approx(CAP / len(LINES[0] + "\n"), rel=0.1)


def test_a_worker_writes_on_undisturbed(bundle: Bundle, tmp_path: Path) -> None:
    path, caps = bundle.log(1, 0, "stdout"), LogCaps(tmp_path, Troubles())
    writes = "for n in range(50): print(f'more {n:03}' + 'x' * 99_990)"
    with path.open("ab") as output:
        writer = subprocess.Popen([sys.executable, "-u", "-c", writes], stdout=output)
        while writer.poll() is None:
            caps.look()
    caps.look()
    assert on_disk(path) <= CAP + SLACK_BYTES + 2 * BLOCK_BYTES
    assert path.stat().st_size == len(WHOLE) + 50 * 99_999
    assert ask(tmp_path, limit=1).lines[0].text.startswith("more 049xxx")


def test_a_shorter_log_is_left_alone(bundle: Bundle, tmp_path: Path) -> None:
    path = bundle.log(1, 0, "stdout")
    path.write_bytes(WHOLE[: CAP - 1])
    LogCaps(tmp_path, Troubles()).look()
    assert ask(tmp_path, after=0, limit=1).dropped == 0


def test_a_filesystem_without_holes_is_told_as_a_trouble(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, count: int, path: Path) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported", str(path))

    monkeypatch.setattr(log_caps, "_punch", refuse)
    troubles = Troubles()
    LogCaps(tmp_path, troubles).look()
    assert any("log_max_bytes" in text for text in troubles.texts())
    assert ask(tmp_path, after=0, limit=1).lines[0].text == LINES[0]
