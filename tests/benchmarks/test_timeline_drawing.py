"""The drawing benchmark runs in a real browser, and says what it missed. Times are not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.browser.chromium import ROOT
from tests.waiting import LENIENCE

from .timeline_drawing import missed

FIELDS = [
    "case",
    "draw_ms",
    "frames_per_s",
    "prepare_ms",
    "ranks",
    "renders_while_panning",
    "rounds",
    "spans",
    "width_px",
]


def test_it_draws_a_hundred_thousand_stretches_and_renders_next_to_nothing_while_it_moves() -> None:
    command = [sys.executable, "-m", "tests.benchmarks.timeline_drawing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180 * LENIENCE)
    (told,) = done.stdout.splitlines()
    line: dict[str, Any] = json.loads(told)
    assert sorted(line) == FIELDS, done.stderr
    assert (line["ranks"], line["rounds"], line["spans"], line["width_px"]) == (1000, 100, 100_000, 1440)
    assert line["frames_per_s"] > 0
    assert line["draw_ms"]["max"] >= line["draw_ms"]["median"] > 0
    # Once that it follows no longer, and once for each rest: three seconds have no more than fifteen.
    assert line["renders_while_panning"] <= 16


def test_what_was_missed_is_said() -> None:
    good = {"draw_ms": {"median": 9.0, "max": 150.0}, "frames_per_s": 30.0}
    assert missed(good) == []
    assert missed({"draw_ms": {"median": 9.0, "max": 150.1}, "frames_per_s": 29.9}) == [
        "Drawing took 150.1 ms, more than 150 ms.",
        "It moved at 29.9 frames a second, fewer than 30.",
    ]
