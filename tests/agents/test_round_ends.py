"""Which rounds are worth keeping evidence of, from a runner's journal alone."""

from __future__ import annotations

import json
from typing import Any

from agents.node.round_ends import MOST_RECORDS, RoundEnd, Rounds


def read(*records: dict[str, Any], looked_at: bool = True, forced: bool = False) -> list[RoundEnd]:
    rounds = Rounds(was_looked_at=lambda number: looked_at, was_forced=lambda number: forced)
    return [end for record in records for end in rounds.take(json.dumps({"node": "node-a", **record}))]


BEGUN: dict[str, Any] = {"kind": "rendezvous_begun", "cause": "start"}
FIRST: dict[str, Any] = {"kind": "rendezvous_completed", "round": 1, "cause": "start"}
STARTING: dict[str, Any] = {"kind": "workers_starting", "round": 1, "ranks": [0, 1]}
FELT: dict[str, Any] = {"kind": "restart_begun", "round": 1, "cause": "membership"}
UP = (BEGUN, FIRST, STARTING)


def exited(rank: int, role: str, said: str) -> dict[str, Any]:
    return {"kind": "worker_exited", "round": 1, "worker": {"rank": rank}, "role": role, "said": said}


def formed(cause: str) -> dict[str, Any]:
    claims = [
        {"node": "node-b", "role": "cause", "ranks": [3]},
        {"node": "node-a", "role": "none", "ranks": []},
    ]
    return {"kind": "rendezvous_completed", "round": 2, "cause": cause, "claims": claims}


def finished(outcome: str) -> dict[str, Any]:
    return {"kind": "runner_finished", "outcome": outcome, "reason": "It is over."}


def test_a_worker_that_failed_here_is_the_cause() -> None:
    killed = exited(1, "cause", "killed by SIGKILL")
    failed = {"kind": "restart_begun", "round": 1, "cause": "failure"}
    (end,) = read(*UP, exited(0, "peer_lost", "lost a peer"), killed, failed)
    assert (end.round, end.has_failed, end.rank) == (1, True, 1)
    assert end.cause == "Rank 1 on node-a was killed by SIGKILL."
    assert end.roles == {0: "peer_lost", 1: "cause"}
    assert len(end.records) == 6


def test_a_node_that_felt_a_failure_elsewhere_learns_of_it_from_the_next_round() -> None:
    stopped = exited(0, "stopped", "stopped by the runner (SIGTERM)")
    assert read(*UP, stopped, FELT) == []
    (end,) = read(*UP, stopped, FELT, BEGUN, formed("failure"))
    assert (end.round, end.has_failed, end.rank) == (1, True, None)
    assert end.cause == "The first to fail: rank 3 on node-b."
    assert [json.loads(line)["kind"] for line in end.records][-1] == "restart_begun"


def test_a_change_of_members_is_no_failure() -> None:
    assert [end.has_failed for end in read(*UP, FELT, BEGUN, formed("membership"))] == [False]


def test_the_last_round_fails_with_its_runner() -> None:
    assert [end.has_failed for end in read(*UP, finished("failed"))] == [True]
    assert [end.has_failed for end in read(*UP, finished("unknown"), looked_at=False)] == [True]
    assert [end.has_failed for end in read(*UP, finished("succeeded"))] == [False]
    assert [end.has_failed for end in read(*UP, FELT, finished("failed"))] == [True]
    assert read(BEGUN, finished("failed")) == []


def test_a_stop_that_was_asked_for_is_no_failure_and_one_by_another_node_is() -> None:
    assert [end.has_failed for end in read(*UP, finished("stopped"), looked_at=False)] == [False]
    assert [end.has_failed for end in read(*UP, finished("stopped"), looked_at=True)] == [True]


def test_workers_that_had_to_be_forced_are_worth_a_look_though_nothing_failed() -> None:
    (end,) = read(*UP, finished("stopped"), looked_at=False, forced=True)
    assert (end.has_failed, end.was_forced) == (False, True)


def test_days_of_progress_leave_one_record_and_torn_lines_none() -> None:
    rounds = Rounds(was_looked_at=lambda number: True, was_forced=lambda number: False)
    reports = [{"kind": "progress", "round": 1, "seq": seq} for seq in range(3 * MOST_RECORDS)]
    lines = [json.dumps({"node": "node-a", **record}) for record in (*UP, *reports, finished("failed"))]
    (end,) = [end for line in (*lines[:4], '{"kind":', *lines[4:]) for end in rounds.take(line)]
    assert [json.loads(line)["seq"] for line in end.records if "progress" in line] == [reports[-1]["seq"]]
