"""Cursor pages: a list's next page begins behind the cursor of the last answer."""

from __future__ import annotations

from .errors import refuse_field

LIMIT = 50
MOST = 500


def read_cursor(after: str | None, where: str = "cursor") -> int | None:
    """A cursor of ours as a number. Raises a 422 ``Problem`` for anything else."""
    if after is None or after == "":
        return None
    if after.isdecimal() and len(after) < 19:
        return int(after)
    raise refuse_field(where, f"{after!r} is no cursor.", "Give the value of next from the last answer.")
