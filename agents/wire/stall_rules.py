"""What a job says of stalls: when a pause is one, by steps or by lines, and what is done then. Pure."""

from __future__ import annotations

import re
from typing import Any

from .torchrun import Rule

POLICIES = ("notify", "restart")
"""notify: say it. restart: kill the rank that is behind as well, so that the job restarts."""
START_S = 60.0
LONGEST = 500
"""Characters of the regular expression."""


def _is_regex(value: Any) -> bool:
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        return False
    return len(value) <= LONGEST


RULES: dict[str, Rule] = {
    "stall_after_s": Rule(
        lambda value: value is None or 0 <= value <= 7 * 86400,
        "Write the seconds without a step after which a worker counts as stalled, 0 for never, or leave it "
        "out: then the job's own pace tells.",
    ),
    "stall_log_regex": Rule(
        _is_regex,
        f"Write a regular expression of at most {LONGEST} characters that lines of a healthy worker match, "
        "or leave it empty for any line.",
    ),
    "stall_log_start_s": Rule(
        lambda value: value >= 0,
        "Write the seconds at the beginning of a round in which nothing is expected.",
    ),
    "stall_log_every_s": Rule(
        lambda value: value is None or value > 0,
        "Write the seconds within which such a line has to come again, or leave it out.",
    ),
    "on_stall": Rule(lambda value: value in POLICIES, "Write notify or restart."),
    "stall_restarts_per_hour": Rule(lambda value: value >= 0, "Write 0 or more."),
}
