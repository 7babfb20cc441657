"""Who pays for a restart: one pure answer that all runners of an attempt work out alike.

Before each round every runner publishes its ``Standing`` and reads all others'. What a node
has missed (a round that formed without it) it learns from the standings of those who were there.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..wire.plain import to_json
from ..wire.runner_events import Cause, Claim, ExitRole


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where one runner stands when a round forms."""

    node: str
    round: int
    """The last round it completed; 0 for none. Its claim is about the end of that round."""
    spent: dict[str, int] = field(default_factory=dict)
    """Failure restarts charged so far in this attempt, by node, as far as it knows."""
    members: tuple[str, ...] = ()
    """The nodes of that round."""
    claim: Claim | None = None
    hosts_store: bool = False
    """Whether it hosts the attempt's store."""
    store: str = ""
    """``HOST:PORT`` of the round's own store, from the runner of group rank 0 that hosts it."""
    workers: int = 1
    """How many it will start."""
    settled_round: int = 0
    """The last round of the attempt, from group rank 0: those who took part in it may all have gone."""


@dataclass(frozen=True, kw_only=True)
class Settlement:
    round: int
    cause: Cause
    charged: str | None
    claims: tuple[Claim, ...]
    spent: dict[str, int]
    """By node, with this round's charge in it."""


def _order(claim: Claim) -> tuple[float, str]:
    return (claim.at.timestamp() if claim.at else float("inf"), claim.node)


def _merged(standings: list[Standing]) -> dict[str, int]:
    spent: dict[str, int] = {}
    for standing in standings:
        for node, count in standing.spent.items():
            spent[node] = max(spent.get(node, 0), count)
    return spent


def _first(claims: list[Claim], lost: set[str]) -> Claim | None:
    """The claim that is charged: the first cause, else the first that lost a peer.

    Where a whole node has gone, the peers that were lost were its own: nobody pays for that.
    """
    causes = [claim for claim in claims if claim.role == "cause"]
    return next(iter(causes or ([] if lost else claims)), None)


def settle(standings: list[Standing]) -> Settlement:
    """What the next round is: its number, why it begins, and which node is charged.

    Claims about an older round than the last have been settled by those who completed it.
    """
    last = max(max(standing.round, standing.settled_round) for standing in standings)
    of_last = [standing for standing in standings if standing.round == last]
    members = {node for standing in of_last for node in standing.members}
    live = [standing.claim for standing in of_last if standing.claim]
    claims = sorted((claim for claim in live if claim.role != "none"), key=_order)
    first = _first(claims, lost=members - {standing.node for standing in of_last})
    spent = _merged(standings)
    if first is not None:
        spent[first.node] = spent.get(first.node, 0) + 1
    return Settlement(
        round=last + 1,
        cause="start" if last == 0 else "failure" if first else "membership",
        charged=first.node if first else None,
        claims=tuple(claims),
        spent=spent,
    )


def is_overspent(settlement: Settlement, max_restarts: int) -> bool:
    """Whether the charged node cannot pay, so that the round must not begin."""
    return settlement.charged is not None and settlement.spent[settlement.charged] > max_restarts


def membership_restarts(settlement: Settlement) -> int:
    """How many the attempt has had, with the round that is about to begin."""
    return settlement.round - 1 - sum(settlement.spent.values())


def why_too_many(settlement: Settlement, limit: int | None) -> str | None:
    """A sentence when this round would be a membership restart beyond ``max_membership_restarts``."""
    if limit is None or settlement.cause != "membership" or membership_restarts(settlement) <= limit:
        return None
    had = "none" if limit == 0 else f"no more than {limit}"
    return (
        f"Round {settlement.round} would be a membership restart, as a node came or went, and the job allows "
        f"{had} in one attempt (max_membership_restarts {limit})."
    )


def claim_of(node: str, roles: dict[int, ExitRole], at: datetime) -> Claim:
    """What a node says of its workers' end. ``roles`` by global rank; ``at`` is that of the first failure."""
    for role in ("cause", "peer_lost"):
        ranks = tuple(sorted(rank for rank, its in roles.items() if its == role))
        if ranks:
            return Claim(node=node, role="cause" if role == "cause" else "peer_lost", ranks=ranks, at=at)
    return Claim(node=node, role="none")


def must_give_up(claim: Claim, spent: int, max_restarts: int) -> bool:
    """Whether it is certain, before asking the others, that this node cannot pay for the next round."""
    return claim.role == "cause" and spent >= max_restarts


def settled_to_json(settlement: Settlement) -> str:
    """How far the attempt has come, for ``informed``."""
    return json.dumps({"round": settlement.round, "spent": settlement.spent})


def informed(standing: Standing, settled: str) -> Standing:
    """With what earlier rounds of the attempt have left behind; ``settled`` is empty before the first."""
    if not settled:
        return standing
    known = json.loads(settled)
    spent = _merged([standing, Standing(node="", round=0, spent=known["spent"])])
    return replace(standing, settled_round=known["round"], spent=spent)


def standing_to_json(standing: Standing) -> str:
    return to_json(standing)


def standing_from_json(text: str | bytes) -> Standing:
    values = json.loads(text)
    known = {field.name for field in dataclasses.fields(Standing)}
    claim = values.pop("claim", None)
    if claim is not None:
        at = datetime.fromisoformat(claim["at"]) if claim["at"] else None
        claim = Claim(node=claim["node"], role=claim["role"], ranks=tuple(claim["ranks"]), at=at)
    values["members"] = tuple(values.get("members", ()))
    return Standing(claim=claim, **{key: value for key, value in values.items() if key in known})
