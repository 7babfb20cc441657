"""Troubles with a known answer, as the API tells them. These names are public and stay."""

from __future__ import annotations

from typing import Literal

from webapp.schemas import Answer

TroubleKind = Literal[
    "nodes_short",
    "do_not_meet",
    "did_not_shrink",
    "not_resumed",
    "other_size",
    "network_interface",
    "shared_memory",
    "died_at_import",
]


class TroubleOut(Answer):
    """A trouble whose answer is known."""

    kind: TroubleKind
    sentence: str
    """What is known of it."""
    source: str
    """What says so."""
    what_to_do: str
