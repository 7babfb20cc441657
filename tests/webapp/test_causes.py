"""Each round tells its cause apart from the consequences, what says so, and whether somebody asked for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.webapp.api_client import Api
from tests.webapp.factories import add_round, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.events.asked import note_asked
from webapp.fleet.models import Command
from webapp.jobs import round_ends
from webapp.jobs.models import Attempt, Job, Member, Round, Worker
from webapp.jobs.news import job_changed
from webapp.jobs.round_why import explain_round
from webapp.jobs.timeline import timeline_out

NODES = ["node-1", "node-2"]


@pytest.fixture
def job(anna: Account) -> Job:
    """Two nodes with two ranks each, in their first round."""
    for name in (*NODES, "node-3"):
        make_node(name)
    return make_running_job(anna, NODES, nnodes="1:3")


def attempt_of(job: Job) -> Attempt:
    return job.attempts.get()


def end(job: Job, rank: int, role: str, after_s: float = 0.0, **more: Any) -> None:
    at = timezone.now() + timedelta(seconds=after_s)
    said = "killed by SIGKILL" if role == "cause" else "lost its connection"
    values: dict[str, Any] = {"role": role, "ended_at": at, "said": said, **more}
    attempt = attempt_of(job)
    attempt.workers.filter(round=attempt.rounds.count(), rank=rank).update(**values)


def next_round(job: Job, nodes: list[str] = NODES, **more: Any) -> None:
    attempt = attempt_of(job)
    left = attempt.workers.filter(ended_at=None)
    left.update(role="stopped", ended_by="stopped", ended_at=timezone.now(), said="stopped by the runner")
    number = add_round(attempt, nodes)
    row = attempt.rounds.get(number=number)
    Round.objects.filter(pk=row.pk).update(**more)
    row.refresh_from_db()
    explain_round(row)


def rounds(who: Api, job: Job) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = who.get(f"/api/jobs/{job.id}/timeline").body["rounds"]
    return found


def test_the_first_round_has_no_cause(operator: Api, job: Job) -> None:
    (first,) = rounds(operator, job)
    assert (first["restart"], first["cause"], first["consequences"]) == ("start", None, [])


def test_a_signal_comes_before_lost_connections_that_ended_sooner(operator: Api, job: Job) -> None:
    end(job, 0, "peer_lost", ended_by="peer_lost")
    end(job, 3, "cause", after_s=0.2, ended_by="signal", known_from="exit status", signal="SIGKILL")
    next_round(job, charged="node-2")
    second = rounds(operator, job)[1]
    assert second["restart"] == "failure"
    assert second["cause"] == {
        "kind": "signal",
        "rank": 3,
        "node": "node-2",
        "sentence": "Rank 3 on node-2 was killed by SIGKILL.",
        "source": "exit status",
        "planned": False,
    }
    assert [(c["rank"], c["node"], c["kind"]) for c in second["consequences"]] == [
        (0, "node-1", "peer_lost"),
        (1, "node-1", "stopped"),
        (2, "node-2", "stopped"),
    ]


def test_two_that_failed_by_themselves_are_a_cause_and_a_consequence_of_its_own_kind(
    operator: Api, job: Job
) -> None:
    end(job, 1, "cause", ended_by="exception", known_from="stderr")
    end(job, 2, "cause", after_s=1, ended_by="out_of_memory", known_from="the kernel log")
    next_round(job, charged="node-1")
    second = rounds(operator, job)[1]
    assert (second["cause"]["kind"], second["cause"]["rank"]) == ("exception", 1)
    assert (2, "out_of_memory") in [(c["rank"], c["kind"]) for c in second["consequences"]]


def test_a_kill_by_the_button_was_planned(operator: Api, job: Job, anna: Account) -> None:
    victim = attempt_of(job).workers.get(rank=1)
    Command.objects.create(
        id=uuid4(),
        node="node-1",
        kind="kill_worker",
        body={
            "pid": victim.pid,
            "start_time": victim.start_time,
            "rank": 1,
            "round": 1,
            "signal": "SIGKILL",
        },
        job=job.id,
        attempt=victim.attempt_id,
        by=anna,
        why="a drill",
        state="done",
        created_at=timezone.now(),
    )
    end(job, 1, "cause", ended_by="signal", signal="SIGKILL")
    next_round(job, charged="node-1")
    cause = rounds(operator, job)[1]["cause"]
    assert (cause["planned"], cause["sentence"]) == (
        True,
        "Rank 1 on node-1 was killed by SIGKILL by anna (a drill).",
    )


@pytest.mark.parametrize(
    ("absent", "leaves_why", "kind", "planned"),
    [
        ("its keep-alive lapsed", "", "node_lost", False),
        ("its keep-alive lapsed", "node-3 takes its place", "node_lost", False),
        ("it left", "drained by anna: a new disk", "node_left", True),
        ("it left", "scaled down from 2 to 1 node by anna", "node_left", True),
    ],
)
def test_a_node_that_is_missing_was_lost_or_left(
    operator: Api, job: Job, absent: str, leaves_why: str, kind: str, planned: bool
) -> None:
    if leaves_why:
        Member.objects.filter(node="node-2").update(leaves_at=timezone.now(), leaves_why=leaves_why)
    next_round(job, ["node-1"], cause="membership", absent={"node-2": absent})
    second = rounds(operator, job)[1]
    cause = second["cause"]
    assert (cause["kind"], cause["node"], cause["rank"], cause["planned"]) == (kind, "node-2", None, planned)
    assert cause["sentence"].startswith("node-2 ")
    assert {c["kind"] for c in second["consequences"]} == {"stopped"}


def test_a_node_whose_runner_died_is_missing_for_that(operator: Api, job: Job) -> None:
    Member.objects.filter(node="node-2").update(incarnation=2, deaths=[timezone.now().isoformat()])
    next_round(job, ["node-1"], cause="membership", absent={"node-2": "its keep-alive lapsed"})
    cause = rounds(operator, job)[1]["cause"]
    assert (cause["kind"], cause["sentence"]) == ("runner_died", "The runner on node-2 died.")


@pytest.mark.parametrize("was_asked", [True, False])
def test_a_node_that_joins_was_planned_where_somebody_asked_for_it(
    operator: Api, job: Job, was_asked: bool
) -> None:
    if was_asked:
        note_asked("scale_asked", attempt_of(job).id, "", {"nodes": 3, "before": 2, "by": "anna", "why": ""})
    next_round(job, [*NODES, "node-3"], cause="membership")
    cause = rounds(operator, job)[1]["cause"]
    assert (cause["kind"], cause["node"], cause["planned"]) == ("node_joined", "node-3", was_asked)


def test_of_very_many_ranks_those_of_the_newest_rounds_are_listed(
    operator: Api, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_ends, "MOST_RANKS", 4)
    for _ in range(2):
        end(job, 0, "cause", ended_by="signal", signal="SIGKILL")
        next_round(job, charged="node-1")
    found = rounds(operator, job)
    listed = [row["consequences"] for row in found]
    assert [None if those is None else len(those) for those in listed] == [0, None, 3]
    assert [row["cause"] and row["cause"]["rank"] for row in found] == [None, 0, 0]


def test_what_an_older_runner_told_is_told_as_far_as_it_goes(operator: Api, job: Job) -> None:
    end(job, 0, "cause", exit_code=1, error={"type": "ValueError", "message": "no"})
    next_round(job, charged="node-1")
    assert rounds(operator, job)[1]["cause"]["kind"] == "exception"
    assert Worker.objects.filter(ended_by="").exists()


def test_the_number_of_queries_does_not_grow_with_the_rounds(job: Job) -> None:
    assert _queries_with(job, rounds=3) == _queries_with(job, rounds=12)


def _queries_with(job: Job, rounds: int) -> int:
    for number in range(Round.objects.count(), rounds + 1):
        end(job, 0, "cause", ended_by="signal", signal="SIGKILL")
        next_round(job, charged="node-1", cause="membership" if number % 3 == 0 else "failure")
    job_changed(job.pk)
    with CaptureQueriesContext(connection) as asked:
        assert len(timeline_out(Job.objects.get(pk=job.pk)).rounds) == rounds + 1
    return len(asked)
