"""Patterns that find progress and metrics in what workers write, so that a script needs no change.

Each is a regular expression with named groups. ``step`` and ``total`` are the job's progress; every other
group is a metric of that name. A pattern is looked for anywhere in a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

STEP, TOTAL = "step", "total"
MOST = 10
"""Patterns of one job."""
LONGEST = 500
"""Characters of one pattern."""


def why_not_patterns(patterns: Sequence[str]) -> str:
    """What is wrong with the first that cannot be used, and what to write instead. Empty: all are fine."""
    if len(patterns) > MOST:
        return f"log_metrics has {len(patterns)} patterns, and a job has at most {MOST}. Join some with |."
    found = [why for pattern in patterns if (why := _why_not(pattern))]
    if found:
        return found[0]
    if patterns and not any(STEP in re.compile(pattern).groupindex for pattern in patterns):
        return (
            "No pattern of log_metrics has a group named step, and without steps there is no progress. "
            r"Write one such as step (?P<step>\d+)."
        )
    return ""


def _why_not(pattern: str) -> str:
    shown = repr(pattern if len(pattern) <= 80 else f"{pattern[:80]}…")
    if len(pattern) > LONGEST:
        return f"log_metrics has {shown} with {len(pattern)} characters. Write at most {LONGEST}."
    try:
        names = re.compile(pattern).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        return f"log_metrics has {shown}, which is no regular expression: {error}. Correct it."
    if not names:
        return f"log_metrics has {shown} without a named group. Name what it finds: (?P<loss>[\\d.]+)."
    return ""
