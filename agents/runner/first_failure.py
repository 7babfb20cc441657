"""Which worker of this node failed first, and what the node says of that. Pure."""

from __future__ import annotations

from collections.abc import Collection

from ..wire.runner_events import Claim
from .budget import claim_of
from .exits import kind_of_failure
from .workers import Ended

_ORDER = {"cause": 0, "unknown": 1, "peer_lost": 2}


def first_failure(ended: Collection[Ended]) -> Ended:
    """The first cause, else the end of the fork server, else the first that lost a peer."""
    return min(ended, key=lambda one: (_ORDER.get(one.role, 3), one.at))


def claim_about(ended: Collection[Ended], node: str) -> Claim:
    """What the node tells the others, so that they settle between them who is charged."""
    first = first_failure(ended)
    if first.is_lost:
        return Claim(node=node, role="cause", at=first.at)
    return claim_of(node, {one.worker.rank: one.role for one in ended}, first.at)


def kind_of(first: Ended) -> str | None:
    """See ``guard.follow``."""
    return None if first.role == "peer_lost" or not first.ending else kind_of_failure(first.ending)
