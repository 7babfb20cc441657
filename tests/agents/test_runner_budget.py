"""Who is charged for a restart is settled alike by all, whatever each of them saw."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Literal

import pytest

from agents.runner.budget import (
    Standing,
    claim_of,
    informed,
    is_overspent,
    membership_restarts,
    must_give_up,
    settle,
    settled_to_json,
    standing_from_json,
    standing_to_json,
    why_too_many,
)
from agents.wire.runner_events import Claim, ExitRole

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
Role = Literal["cause", "peer_lost", "none"]


def claim(node: str, role: Role, after_ms: int = 0) -> Claim:
    return Claim(node=node, role=role, ranks=(0,), at=NOON + timedelta(milliseconds=after_ms))


def standing(node: str, its: Claim | None = None, round_number: int = 4, **spent: int) -> Standing:
    return Standing(node=node, round=round_number, claim=its, spent=spent)


@pytest.mark.parametrize(
    ("claims", "cause", "charged"),
    [
        ([None, None], "membership", None),
        ([claim("a", "none"), claim("b", "none")], "membership", None),
        ([claim("a", "cause"), None], "failure", "a"),
        ([claim("a", "peer_lost", 0), claim("b", "cause", 90)], "failure", "b"),
        ([claim("a", "cause", 9), claim("b", "cause", 5)], "failure", "b"),
        ([claim("a", "cause", 5), claim("b", "cause", 5)], "failure", "a"),
        ([claim("a", "peer_lost", 7), claim("b", "peer_lost", 6)], "failure", "b"),
    ],
)
def test_the_first_cause_is_charged_and_else_the_first_to_lose_a_peer(
    claims: list[Claim | None], cause: str, charged: str | None
) -> None:
    standings = [standing(node, its) for node, its in zip("ab", claims, strict=True)]
    settlement = settle(standings)
    assert (settlement.round, settlement.cause, settlement.charged) == (5, cause, charged)
    assert sum(settlement.spent.values()) == (1 if charged else 0)


def test_all_nodes_settle_alike_in_whatever_order_they_read() -> None:
    standings = [
        standing("a", claim("a", "peer_lost", 3), a=1),
        standing("b", claim("b", "cause", 4), a=1, b=2),
        standing("c", None, 2, c=1),
    ]
    settlements = [settle(list(order)) for order in permutations(standings)]
    assert all(settlement == settlements[0] for settlement in settlements)
    assert settlements[0].spent == {"a": 1, "b": 3, "c": 1}


def test_the_first_round_is_a_start() -> None:
    settlement = settle([standing("a", None, 0), standing("b", None, 0, b=2)])
    assert (settlement.round, settlement.cause, settlement.charged) == (1, "start", None)
    assert settlement.spent == {"b": 2}


def test_a_claim_about_a_round_that_others_have_settled_is_not_charged_again() -> None:
    missed = standing("b", claim("b", "cause"), 3)
    settlement = settle([standing("a", None, 4, b=1), missed])
    assert (settlement.cause, settlement.charged, settlement.spent) == ("membership", None, {"b": 1})


@pytest.mark.parametrize(
    ("role", "cause", "charged"), [("peer_lost", "membership", None), ("cause", "failure", "a")]
)
def test_peers_lost_with_their_whole_node_are_charged_to_nobody(
    role: Role, cause: str, charged: str | None
) -> None:
    left = Standing(node="a", round=4, members=("a", "b"), claim=claim("a", role))
    alone = settle([left])
    assert (alone.cause, alone.charged) == (cause, charged)
    with_a_new_runner = settle([left, Standing(node="b", round=0)])
    assert (with_a_new_runner.cause, with_a_new_runner.charged) == (cause, charged)


def test_a_node_charged_beyond_the_budget_is_overspent() -> None:
    settlement = settle([standing("a", claim("a", "cause"), a=3)])
    assert is_overspent(settlement, 3)
    assert not is_overspent(settlement, 4)
    assert not is_overspent(settle([standing("a", None, a=9)]), 3)


def test_only_a_certain_cause_gives_up_before_asking() -> None:
    assert must_give_up(claim("a", "cause"), spent=3, max_restarts=3)
    assert not must_give_up(claim("a", "cause"), spent=2, max_restarts=3)
    assert not must_give_up(claim("a", "peer_lost"), spent=3, max_restarts=3)


@pytest.mark.parametrize(
    ("roles", "role", "ranks"),
    [
        ({2: "peer_lost", 3: "cause"}, "cause", (3,)),
        ({2: "peer_lost", 3: "stopped"}, "peer_lost", (2,)),
        ({2: "finished", 3: "stopped"}, "none", ()),
    ],
)
def test_a_claim_names_the_ranks_it_is_about(
    roles: dict[int, ExitRole], role: str, ranks: tuple[int, ...]
) -> None:
    made = claim_of("a", roles, NOON)
    assert (made.role, made.ranks) == (role, ranks)


def test_rounds_and_charges_go_on_when_all_who_took_part_have_gone() -> None:
    before = settle([standing("a", claim("a", "cause"), 4, b=1), standing("b", None, 4)])
    new = informed(Standing(node="c", round=0, spent={"b": 2}), settled_to_json(before))
    after = settle([new, Standing(node="d", round=0)])
    assert (after.round, after.cause, after.charged) == (6, "membership", None)
    assert after.spent == {"a": 1, "b": 2}
    assert informed(new, "") == new


def test_what_is_behind_the_last_round_changes_nothing() -> None:
    late = settle([standing("a", None, 3)])
    settlement = settle([informed(standing("a", claim("a", "cause"), 5), settled_to_json(late))])
    assert (settlement.round, settlement.charged) == (6, "a")


@pytest.mark.parametrize(
    ("rounds", "spent", "restarts"), [(1, {}, 0), (2, {}, 1), (2, {"a": 1}, 0), (6, {"a": 1, "b": 2}, 2)]
)
def test_membership_restarts_are_the_rounds_that_no_failure_began(
    rounds: int, spent: dict[str, int], restarts: int
) -> None:
    settlement = settle([Standing(node="a", round=rounds - 1, spent=spent)])
    assert membership_restarts(settlement) == restarts


def test_one_membership_restart_beyond_the_limit_is_one_too_many() -> None:
    third = settle([standing("a", None, 3)])
    assert why_too_many(third, None) is None
    assert why_too_many(third, 3) is None
    too_many = why_too_many(third, 2)
    assert too_many is not None
    assert "Round 4 would be a membership restart" in too_many
    assert "no more than 2 in one attempt" in too_many
    none = why_too_many(settle([standing("a", None, 1)]), 0)
    assert none is not None
    assert "allows none in one attempt" in none
    assert why_too_many(settle([standing("a", claim("a", "cause"), 9)]), 0) is None


def test_a_standing_survives_the_store() -> None:
    before = Standing(
        node="a",
        round=2,
        spent={"a": 1},
        claim=claim("a", "cause"),
        store="[::1]:4000",
        members=("a",),
        workers=2,
    )
    assert standing_from_json(standing_to_json(before)) == before
    assert standing_from_json(b'{"node":"a","round":0,"news":1}') == Standing(node="a", round=0)
