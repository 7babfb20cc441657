"""What the summary key tells an operator who looks into etcd. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from ...torch_hooks import _RendezvousState


@dataclass(frozen=True)
class Facts:
    """What does not change with every keep-alive. Members are written ``node-a=0``, with their rank."""

    round: int
    stage: str
    members: tuple[str, ...]
    waiting: tuple[str, ...]


def facts_of(state: _RendezvousState) -> Facts:
    """Rounds are counted from 1, a given-up one included."""
    ranked = sorted(state.participants.items(), key=lambda item: (item[1], item[0].addr))
    return Facts(
        round=state.round + 1,
        stage="closed" if state.closed else "complete" if state.complete else "forming",
        members=tuple(f"{node.addr}={rank}" if state.complete else node.addr for node, rank in ranked),
        waiting=tuple(sorted(node.addr for node in (*state.wait_list, *state.redundancy_list))),
    )


def describe(facts: Facts, since: str) -> str:
    """``round 2, complete, since 2026-11-29T21:04:05Z, members node-a=0 node-b=1``."""
    parts = [f"round {facts.round}", facts.stage, since, f"members {' '.join(facts.members) or 'none'}"]
    if facts.waiting:
        parts.append(f"waiting {' '.join(facts.waiting)}")
    return ", ".join(parts)


def say_since(moment: datetime) -> str:
    return f"since {moment.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
