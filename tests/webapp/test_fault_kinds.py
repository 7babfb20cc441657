"""Every kind of fault through the public door: what is refused, forecast, sent, and what becomes of it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents.wire import commands
from agents.wire.codec import read_command
from tests.webapp.api_client import Answer, Api
from tests.webapp.factories import add_round, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.models import Command, CommandState
from webapp.jobs.models import Fault, Job, Round
from webapp.jobs.round_why import explain_round


@pytest.fixture
def job(anna: Account) -> Job:
    """Four ranks on two nodes."""
    make_node("node-1")
    make_node("node-2")
    return make_running_job(anna, ["node-1", "node-2"], max_restarts=3)


def ask(who: Api, job: Job, **body: Any) -> Answer:
    return who.post(f"/api/jobs/{job.id}/faults", body)


def sent(answer: Answer) -> Any:
    assert answer.status == 202, answer.body
    return read_command(json.dumps(Command.objects.get(pk=answer.body["id"]).body))


def close(command: str, **evidence: Any) -> None:
    Command.objects.filter(pk=command).update(
        state=CommandState.DONE, reason="It is done.", evidence=evidence, ended_at=timezone.now()
    )


def test_each_kind_is_sent_to_the_node_with_what_it_needs(operator: Api, job: Job) -> None:
    frozen = sent(ask(operator, job, kind="freeze_worker", rank=3, seconds=12))
    assert isinstance(frozen, commands.FreezeWorker)
    assert (frozen.rank, frozen.seconds, frozen.start_time) == (3, 12.0, 77)
    slowed = sent(ask(operator, job, kind="slow_worker", rank=0, share=0.25, seconds=5))
    assert isinstance(slowed, commands.SlowWorker)
    assert slowed.share == 0.25
    runner = sent(ask(operator, job, kind="kill_runner", node="node-2"))
    assert isinstance(runner, commands.KillRunner)
    assert runner.incarnation == 1
    assert isinstance(sent(ask(operator, job, kind="kill_agent", node="node-2")), commands.KillAgent)
    cut = sent(ask(operator, job, kind="cut_node", node="node-1", seconds=9))
    assert isinstance(cut, commands.CutNode)
    assert cut.seconds == 9.0


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"kind": "freeze_worker", "rank": 0, "seconds": 0}, "seconds"),
        ({"kind": "freeze_worker", "rank": 0, "seconds": 601}, "seconds"),
        ({"kind": "slow_worker", "rank": 0, "share": 1}, "share"),
        ({"kind": "kill_worker", "rank": 0, "signal": "SIGUSR1"}, "signal"),
        ({"kind": "kill_worker"}, "rank"),
        ({"kind": "kill_worker", "rank": 0, "ranks": [1]}, "rank"),
        ({"kind": "kill_worker", "ranks": []}, "ranks"),
        ({"kind": "freeze_worker", "rank": 0, "node": "node-1"}, "node"),
        ({"kind": "cut_node", "rank": 0}, "rank"),
        ({"kind": "kill_runner"}, "node"),
        ({"kind": "unplug"}, "kind"),
    ],
)
def test_what_makes_no_sense_is_refused_at_its_field(
    operator: Api, job: Job, body: dict[str, Any], where: str
) -> None:
    answer = ask(operator, job, **body)
    assert (answer.status, answer.body["where"]) == (422, where), answer.body
    assert not Fault.objects.exists()


def test_a_node_that_the_job_is_not_on_or_has_left_is_refused(operator: Api, job: Job) -> None:
    assert ask(operator, job, kind="cut_node", node="node-9").body["reason"] == "no_such_node"
    job.attempts.get().members.filter(node="node-2").update(settled_at=timezone.now())
    answer = ask(operator, job, kind="kill_runner", node="node-2")
    assert (answer.status, answer.body["reason"]) == (409, "node_left")
    stale = ask(operator, job, kind="kill_agent", node="node-1", **{"if": {"attempt": "j0-a1-old"}})
    assert stale.body["reason"] == "attempt_replaced"


def test_a_dry_run_tells_and_does_nothing(operator: Api, job: Job) -> None:
    answer = ask(operator, job, kind="kill_worker", rank=3, dry_run=True)
    assert answer.status == 200
    forecast = answer.body["forecast"]
    assert "world size 4 → 4, failure restarts of node-2 0 → 1 of 3" in forecast["sentence"]
    assert (forecast["world_size_after"], forecast["failure_restarts_after"]) == (4, 1)
    assert (forecast["steps_redone"], forecast["seconds"]) == (None, None)
    assert answer.body["proves"].startswith("Proves that")
    assert answer.body["warnings"] == []
    assert not Command.objects.exclude(kind="start_runner").exists()
    replaced = {"round": 1, "pid": 1}
    assert ask(operator, job, kind="kill_worker", rank=3, dry_run=True, **{"if": replaced}).status == 409


def _note_recovery(job: Job, number: int, seconds: float) -> None:
    fault_at = timezone.now()
    moments = {
        "fault": {"at": fault_at.isoformat(), "node": "node-2", "rank": None, "n": 1},
        "first_step": {
            "at": (fault_at + timedelta(seconds=seconds)).isoformat(),
            "node": "node-2",
            "rank": 3,
            "n": 4,
        },
    }
    rounds = Round.objects.filter(attempt__job=job, number=number)
    rounds.update(moments=moments, resumed_step=20, formed_at=fault_at)
    Round.objects.filter(attempt__job=job, number=number - 1).update(last_step=31)


def test_a_forecast_is_held_against_what_happened(operator: Api, job: Job) -> None:
    for seconds in (1.0, 1.2, 1.7):
        _note_recovery(job, add_round(job.attempts.get(), ["node-1", "node-2"]), seconds)
    asked = ask(operator, job, kind="kill_worker", rank=3)
    listed = operator.get(f"/api/jobs/{job.id}/faults").body["items"]
    assert [(one["id"], one["outcome"]) for one in listed] == [(asked.body["id"], None)]
    assert listed[0]["forecast"]["seconds"] == 1.2
    assert "median of 3" in listed[0]["forecast"]["sentence"]

    close(asked.body["id"], pid=1)
    _note_recovery(job, add_round(job.attempts.get(), ["node-1", "node-2"]), 1.5)
    outcome = operator.get(f"/api/jobs/{job.id}/faults").body["items"][0]["outcome"]
    assert (outcome["round"], outcome["world_size"], outcome["steps_redone"]) == (5, 4, 11)
    assert (outcome["failure_restarts"], outcome["seconds"], outcome["error_s"]) == (4, 1.5, 0.3)
    assert outcome["sentence"] == (
        "Round 5 formed with world size 4, failure restarts 4, 11 steps redone, back after 1.5 s "
        "(forecast: 1.2 s)."
    )


def test_a_kill_beyond_the_budget_is_told_as_the_end(operator: Api, job: Job) -> None:
    asked = ask(operator, job, kind="kill_worker", rank=3)
    close(asked.body["id"], pid=1)
    job.attempts.update(ended_at=timezone.now())
    outcome = operator.get(f"/api/jobs/{job.id}/faults").body["items"][0]["outcome"]
    assert outcome["sentence"] == "No round followed in this attempt: it has ended."


def test_running_faults_are_listed_until_evidence_closes_them(operator: Api, viewer: Api, job: Job) -> None:
    assert viewer.get("/api/faults").body["items"] == []
    asked = ask(operator, job, kind="freeze_worker", rank=1, seconds=60, reason="a look")
    (running,) = viewer.get("/api/faults").body["items"]
    assert (running["id"], running["kind"], running["job"]) == (asked.body["id"], "freeze_worker", job.id)
    assert (running["rank"], running["by"], running["why"]) == (1, "anna", "a look")
    assert ask(operator, job, kind="freeze_worker", rank=0, dry_run=True).body["warnings"] == [
        "1 fault of this job is running already."
    ]
    close(asked.body["id"], pid=1, stood_s=60.2)
    assert viewer.get("/api/faults").body["items"] == []
    outcome = viewer.get(f"/api/jobs/{job.id}/faults").body["items"][0]["outcome"]
    assert (outcome["seconds"], outcome["error_s"]) == (60.2, 0.2)
    assert outcome["sentence"].startswith("Nothing restarted meanwhile")


def test_stopping_all_faults_asks_each_node_that_can_hear_it(operator: Api, job: Job) -> None:
    assert operator.post("/api/faults/stop-all").body["says"] == "No fault runs that could be stopped."
    ask(operator, job, kind="freeze_worker", rank=1)
    cut = ask(operator, job, kind="cut_node", node="node-2")
    Fault.objects.filter(pk=cut.body["id"]).update(begun_at=timezone.now())
    answer = operator.post("/api/faults/stop-all")
    assert answer.status == 202
    assert [(one["kind"], one["node"]) for one in answer.body["commands"]] == [("stop_faults", "node-1")]
    assert answer.body["says"] == (
        "1 node asked to end all faults: node-1. node-2 is cut off and cannot be told: "
        "the cut ends by itself."
    )


def test_a_worker_that_writes_a_checkpoint_is_warned_of(operator: Api, job: Job) -> None:
    member = job.attempts.get().members.get(node="node-1")
    member.folded["workers"][0]["saving_since"] = timezone.now().isoformat()
    member.save(update_fields=["folded"])
    answer = ask(operator, job, kind="kill_worker", rank=3, dry_run=True)
    assert answer.body["warnings"] == [
        "Rank 0 is writing a checkpoint now: what is written may be torn, and more is redone."
    ]


def test_faults_are_marks_of_the_timeline_with_who_and_why(operator: Api, job: Job) -> None:
    ask(operator, job, kind="freeze_worker", rank=1, seconds=12, reason="a look")
    ask(operator, job, kind="cut_node", node="node-2", seconds=15)
    marks = operator.get(f"/api/jobs/{job.id}/timeline").body["marks"]
    pid = job.attempts.get().workers.get(rank=1).pid
    assert [(mark["kind"], mark["by"], mark["says"]) for mark in marks] == [
        ("fault", "anna", f"anna froze rank 1 (pid {pid}) for 12 s: a look."),
        ("fault", "anna", "anna cut node-2 off from the hub for 15 s."),
    ]


def test_rounds_after_a_runner_was_killed_by_hand_are_planned_and_say_by_whom(
    operator: Api, job: Job
) -> None:
    attempt = job.attempts.get()
    asked = ask(operator, job, kind="kill_runner", node="node-2", reason="a look")
    attempt.members.filter(node="node-2").update(deaths=[timezone.now().isoformat()])
    close(asked.body["id"], pid=1, sent_at=timezone.now().timestamp())
    add_round(attempt, ["node-1"])
    add_round(attempt, ["node-1", "node-2"])
    add_round(attempt, ["node-1"])
    Round.objects.filter(attempt=attempt, number__gt=1).update(cause="membership")
    explain_round(attempt.rounds.get(number=2))
    rounds = operator.get(f"/api/jobs/{job.id}/timeline").body["rounds"]
    assert [one["cause"] and one["cause"]["planned"] for one in rounds] == [None, True, True, False]
    assert rounds[1]["why"] == "The runner on node-2 died, killed by anna (a look)"
