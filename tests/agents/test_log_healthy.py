"""Where a job has a rule about lines, a file tells when a rank last wrote such a line."""

from __future__ import annotations

import os
from pathlib import Path

from agents.runner.log_watcher import LogWatcher
from agents.stall_marks import MATCHED
from tests.waiting import wait_until


def say(folder: Path, line: str) -> None:
    with (folder / "stdout.log").open("a") as file:
        file.write(f"{line}\n")


def test_only_lines_that_match_count(tmp_path: Path) -> None:
    mark, watcher = tmp_path / MATCHED, LogWatcher((), r"epoch \d+")
    watcher.watch({0: tmp_path})
    say(tmp_path, "epoch 1 begins")
    wait_until(mark.exists, what="the mark")
    long_ago = 1_000_000.0
    os.utime(mark, (long_ago, long_ago))
    say(tmp_path, "loading epochs")
    watcher.catch_up()
    assert mark.stat().st_mtime == long_ago
    say(tmp_path, "epoch 2 begins")
    wait_until(lambda: mark.stat().st_mtime > long_ago, what="the next one")


def test_a_pattern_that_is_too_costly_calls_nobody_stalled(tmp_path: Path) -> None:
    mark, watcher = tmp_path / MATCHED, LogWatcher((), r"(a+)+$")
    watcher.watch({0: tmp_path})
    for _ in range(3):
        say(tmp_path, "a" * 60 + "b")
    wait_until(lambda: _has_mark(tmp_path, mark), what="any line to count")


def _has_mark(folder: Path, mark: Path) -> bool:
    say(folder, "b")
    return mark.exists()
