"""Records in words: one rank is spoken of as one, and many are not listed one by one."""

from __future__ import annotations

from typing import Any

import pytest

from webapp.events.sentences import says


def reached(*ranks: int, what: str = "group_up") -> dict[str, Any]:
    return {"node": "node-1", "reached": [{"rank": rank, "what": what} for rank in ranks]}


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ((1,), "rank 1 has a process group"),
        ((0, 1), "ranks 0 and 1 have a process group"),
        (tuple(range(64)), "64 ranks (0, 1, 2 …) have a process group"),
    ],
)
def test_what_ranks_have_reached(ranks: tuple[int, ...], words: str) -> None:
    assert says("workers_reached", reached(*ranks)) == f"node-1: {words}."


def test_each_thing_that_was_reached_names_its_ranks() -> None:
    both = reached(0, 1, what="group_begun")["reached"] + reached(1, what="first_step")["reached"]
    told = "node-1: ranks 0 and 1 called init_process_group; rank 1 has done a step."
    assert says("workers_reached", {"node": "node-1", "reached": both}) == told


@pytest.mark.parametrize(
    ("failed", "words"),
    [([], "a worker"), ([3], "rank 3"), ([2, 3], "ranks 2 and 3"), (list(range(9)), "9 ranks (0, 1, 2 …)")],
)
def test_who_ended_badly(failed: list[int], words: str) -> None:
    body = {"node": "node-1", "round": 4, "cause": "failure", "failed_ranks": failed}
    assert says("restart_begun", body) == f"node-1 leaves round 4: {words} ended badly."


def test_whose_stacks_are_kept() -> None:
    body = {"node": "node-1", "round": 1, "stacks": [0, 1], "dropped": []}
    assert says("evidence_kept", body) == "node-1 keeps evidence of round 1, with stacks of ranks 0 and 1."
