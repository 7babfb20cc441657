"""Where a merged log goes on: one place for all nodes, or one for each.

A line's own place is of the hub's clock and holds for all nodes; where a page ends is told for each node by
its own clock, so that clocks that disagree leave out no line and give none twice.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping

from agents.logs.gap import Gap, read_gap
from webapp.errors import refuse_field

from .log_questions import Clocks

LONGEST = 60_000


def write_places(places: Mapping[str, Gap]) -> str:
    plain = json.dumps({node: gap.text() for node, gap in places.items()}, separators=(",", ":"))
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def read_places(text: str, where: str, nodes: list[str], clocks: Clocks) -> dict[str, Gap]:
    """By each node's clock. A node that is not in it begins at its beginning. Raises a 422 ``Problem``."""
    try:
        if "." in text:
            gap = read_gap(text)
            return {node: gap.later(clocks.ahead_ms(node)) for node in nodes}
        told = json.loads(base64.urlsafe_b64decode(text[:LONGEST] + "=" * (-len(text) % 4)))
        return {node: read_gap(str(told[node])) if node in told else Gap(0) for node in nodes}
    except (ValueError, TypeError, binascii.Error) as error:
        raise refuse_field(
            where, f"{text[:80]!r} is no cursor.", "Give the value of next or previous from the last answer."
        ) from error
