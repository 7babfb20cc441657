"""A node has one runner after the other in an attempt: each has a number, and goes on from the last."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from agents.wire.codec import read_command
from agents.wire.commands import StartRunner
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import NodeJournal, RunnerJournal, entries, killed_and_back
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.ingest.batch import take_batch
from webapp.jobs.launch import start_members
from webapp.jobs.models import Attempt, Job, Member, Round
from webapp.jobs.tasks import reconcile

pytestmark = pytest.mark.django_db

ATTEMPT, NODES = "j1-a1-test", ("node-1", "node-2")
KILLED = "The runner on node-2 was killed (SIGKILL)."


def take(*journals: RunnerJournal | NodeJournal) -> None:
    for journal in journals:
        take_batch(entries(journal.events))


@pytest.fixture
def job(anna: Account) -> Job:
    """In round 2, for which node-2 has spent a failure restart."""
    for name in NODES:
        make_node(name)
    job = make_job(anna, state="waiting", nnodes="2", nproc_per_node=2, max_restarts=3)
    attempt = Attempt.objects.create(
        id=ATTEMPT,
        job=job,
        number=1,
        store_host="node-1",
        endpoint="127.0.0.1:29400",
        created_at=job.created_at,
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=2) for name in NODES)
    start_members(attempt)
    return job


@pytest.fixture
def trained(job: Job) -> tuple[RunnerJournal, RunnerJournal]:
    first, second = killed_and_back(ATTEMPT, NODES)
    take(first, second)
    return first, second


def second_member() -> Member:
    return Member.objects.get(node="node-2")


def starts() -> list[StartRunner]:
    rows = Command.objects.filter(kind="start_runner", node="node-2").order_by("created_at")
    found = [read_command(json.dumps(row.body)) for row in rows]
    return [command for command in found if isinstance(command, StartRunner)]


def says(job: Job) -> tuple[str, str]:
    job.refresh_from_db()
    return job.state, job.state_reason


def die(journal: RunnerJournal, node: NodeJournal, incarnation: int = 1) -> None:
    take(journal.end("failed", KILLED, inferred=True))
    take(node.settled(ATTEMPT, incarnation))


def next_runner(incarnation: int = 2, after: int = 2) -> RunnerJournal:
    journal = RunnerJournal(ATTEMPT, "node-2", NODES, incarnation=incarnation)
    journal.round = after
    return journal


def test_a_runner_that_died_is_started_again_once_nothing_of_it_is_left(
    job: Job, trained: tuple[RunnerJournal, RunnerJournal]
) -> None:
    _, second = trained
    take(second.end("failed", KILLED, inferred=True))
    assert says(job)[0] == "restarting"
    assert f"{KILLED} It is being started again." in says(job)[1]
    before = len(starts())

    take(NodeJournal("node-2").settled(ATTEMPT))
    member = second_member()
    assert (member.incarnation, member.phase, member.settled_at) == (2, "launching", None)
    assert len(member.deaths) == 1
    message = starts()[-1].message
    assert len(starts()) == before + 1
    assert (message.incarnation, message.spent, message.nodes) == (2, 1, NODES)
    assert (says(job)[0], "The runner on node-2 is being started again." in says(job)[1]) == (
        "restarting",
        True,
    )
    assert reconcile() == 0
    assert len(starts()) == before + 1


def test_its_slots_stay_taken_in_between(job: Job, trained: tuple[RunnerJournal, RunnerJournal]) -> None:
    die(trained[1], NodeJournal("node-2"))
    assert second_member().settled_at is None


def test_the_next_runner_is_folded_from_its_own_journal_and_what_was_spent_goes_on(
    job: Job, operator: Api, trained: tuple[RunnerJournal, RunnerJournal]
) -> None:
    first, second = trained
    die(second, NodeJournal("node-2"))
    again = next_runner().start().form("membership").come_up().progress(12)
    first.restart("membership").form("membership").come_up().progress(12)
    take(first, again)
    body = operator.get(f"/api/jobs/{job.id}").body
    assert (body["state"], body["round"], body["world_size"]) == ("training", 3, 4)
    assert (body["restarts"]["failure"], body["restarts"]["membership"]) == (1, 1)
    assert body["restarts"]["by_node"]["node-2"]["charged"] == 1
    assert (
        "The runner on node-2 died and has been started again; all 4 ranks are back" in body["state_reason"]
    )


def test_what_is_said_late_of_an_earlier_runner_changes_nothing(
    job: Job, trained: tuple[RunnerJournal, RunnerJournal]
) -> None:
    node = NodeJournal("node-2")
    die(trained[1], node)
    before = second_member()
    take(node.settled(ATTEMPT, 1))
    after = second_member()
    assert (after.settled_at, after.phase, after.folded) == (None, before.phase, before.folded)


def test_a_later_runner_than_the_rows_know_of_is_followed(
    job: Job, trained: tuple[RunnerJournal, RunnerJournal]
) -> None:
    take(next_runner(3).start())
    member = second_member()
    assert (member.incarnation, member.phase, member.folded["charged"]) == (3, "idle", 1)


def run_and_die(incarnations: Iterable[int], node: NodeJournal) -> None:
    for number in incarnations:
        die(next_runner(number).start(), node, number)


def test_three_deaths_within_a_minute_fail_the_attempt_and_end_the_others(
    job: Job, trained: tuple[RunnerJournal, RunnerJournal]
) -> None:
    node = NodeJournal("node-2")
    die(trained[1], node)
    run_and_die([2, 3], node)
    told = f"The runner on node-2 died three times within a minute, so that it is not started again. {KILLED}"
    assert says(job) == ("stopping", f"{told} Its workers on node-1 are being stopped.")
    assert [c.node for c in Command.objects.filter(kind="stop_runner")] == ["node-1"]
    take(trained[0].end("stopped", "stopped on request"), NodeJournal("node-1").settled(ATTEMPT))
    assert says(job) == ("failed", told)


def test_a_runner_that_cannot_be_started_again_leaves_the_others_alone(
    job: Job, trained: tuple[RunnerJournal, RunnerJournal]
) -> None:
    node = NodeJournal("node-2")
    die(trained[1], node)
    refused = "Its store is gone."
    take(node.command_ended(starts()[-1].id, "refused", refused))
    assert says(job)[0] not in ("failed", "stopping")
    assert not Command.objects.filter(kind="stop_runner").exists()
    assert Round.objects.count() == 2


def test_a_job_that_is_stopped_starts_nothing_again(
    job: Job, operator: Api, trained: tuple[RunnerJournal, RunnerJournal]
) -> None:
    before = len(starts())
    operator.post(f"/api/jobs/{job.id}/stop", {"reason": "enough"})
    die(trained[1], NodeJournal("node-2"))
    assert (len(starts()), second_member().incarnation) == (before, 1)
