"""A stall is noted when it begins and ends, asks for stacks, and is acted upon as often as the job allows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import redis
from django.utils import timezone

from agents.wire import streams
from agents.wire.lifecycle import RunnerState, WorkerState
from agents.wire.plain import to_json
from agents.wire.runner_events import CheckpointBegun, CheckpointSaved
from agents.wire.stacks import Frame, RankStacks, StacksAnswer, ThreadStack
from agents.wire.usage import NodeUsage, WorkerUsage
from tests.webapp.api_client import Api
from tests.webapp.factories import add_round, make_node, make_running_job
from tests.webapp.journals import BEGAN, RunnerJournal
from tests.webapp.situations import fold_all
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.jobs.apply import restand_or_log
from webapp.jobs.folded import runner_of, state_to_dict
from webapp.jobs.models import Attempt, Job, Stall
from webapp.jobs.samples import Sample
from webapp.jobs.situation import JobFacts, MemberFacts, RoundFacts
from webapp.jobs.stall_views import views_of
from webapp.jobs.stalls import Look, Rule, Stalled, look_at
from webapp.jobs.tasks import reconcile

NODES = ("node-1", "node-2")


@pytest.fixture
def attempt(anna: Account, bus: redis.Redis) -> Attempt:
    """Four ranks that have reported a step each half second."""
    for name in NODES:
        make_node(name)
    job = make_running_job(anna, NODES)
    found = job.attempts.get()
    train(found)
    return found


def train(attempt: Attempt, step: int = 40) -> None:
    now = timezone.now()
    for member in attempt.members.all():
        runner = runner_of(member)
        workers = tuple(stepped(worker, step, now) for worker in runner.workers)
        state = replace(runner, workers=workers, reports_progress=True, told_at=now)
        member.folded = state_to_dict(state)
        member.save()


def stepped(worker: WorkerState, step: int, now: datetime) -> WorkerState:
    trail = tuple((step - back, now.timestamp() - back / 2) for back in (4, 3, 2, 1, 0))
    return replace(worker, step=step, trail=trail)


def tell(
    bus: redis.Redis,
    attempt: Attempt,
    said_s: float,
    states: dict[int, str] | None = None,
    lasts_s: float = 0.0,
) -> None:
    """What the node agents publish: how long ago each rank reported, how it stands, and for how long."""
    for member in attempt.members.all():
        runner = runner_of(member)
        workers = tuple(
            replace(
                usage(runner, worker, attempt, said_s, (states or {}).get(worker.ref.rank, "S")),
                state_s=lasts_s,
            )
            for worker in runner.workers
        )
        sample = NodeUsage(at=timezone.now(), workers=workers)
        bus.set(streams.usage(member.node), to_json(sample), ex=streams.USAGE_S)


def usage(
    runner: RunnerState, worker: WorkerState, attempt: Attempt, said_s: float, state: str
) -> WorkerUsage:
    ref = worker.ref
    return WorkerUsage(
        attempt=attempt.id,
        round=runner.round or 0,
        rank=ref.rank,
        pid=ref.pid,
        start_time=ref.start_time,
        state=state,
        cpu=0.5,
        rss_bytes=1 << 20,
        said_s=said_s,
    )


def answer(bus: redis.Redis, place: dict[int, str]) -> None:
    """Let the nodes answer what they were asked: the function that each rank stands in."""
    for node, ranks in zip(NODES, ((0, 1), (2, 3)), strict=True):
        asked = bus.lpop(streams.requests(node))
        assert isinstance(asked, bytes)
        told = tuple(
            RankStacks(rank=rank, pid=1, state="S", method="py-spy", threads=(stack(place[rank]),))
            for rank in ranks
        )
        bus.rpush(streams.answer(json.loads(asked)["id"]), to_json(StacksAnswer(ranks=told)))


def stack(name: str) -> ThreadStack:
    inner = Frame(name=name, file="/data/train.py", line=12)
    if name == "all_reduce":
        inner = Frame(name=name, file="/lib/torch/distributed/distributed_c10d.py", line=99)
    return ThreadStack(frames=(inner, Frame(name="<module>", file="/data/train.py", line=40)))


def job() -> Job:
    return Job.objects.get()


def stalls() -> list[Stall]:
    return list(Stall.objects.order_by("id"))


def kills() -> list[Command]:
    return list(Command.objects.filter(kind="kill_worker"))


@pytest.mark.django_db(transaction=True)
def test_a_stall_is_noted_named_by_its_stacks_and_over_once_steps_come(
    attempt: Attempt, bus: redis.Redis, operator: Api
) -> None:
    tell(bus, attempt, 3.0)
    reconcile()
    assert (job().state, stalls()) == ("training", [])
    tell(bus, attempt, 9.0)
    reconcile()
    assert job().state == "stalled"
    assert job().state_reason.endswith("no rank has come beyond step 40, and none of them stands out.")
    answer(bus, {0: "all_reduce", 1: "all_reduce", 2: "load", 3: "all_reduce"})
    reconcile()
    named = "rank 2 on node-2 has not come beyond step 40; it stands in load (train.py:12), the others in "
    assert f"{named}all_reduce (train.py:40)." in job().state_reason
    shown = operator.get(f"/api/jobs/{job().id}").body["stall"]
    assert (shown["rank"], shown["node"], shown["ended_at"]) == (2, "node-2", None)
    page = operator.get(f"/api/jobs/{job().id}/stalls").body
    assert [group["ranks"] for group in page["groups"]] == [[2], [0, 1, 3]]
    # Nothing is known of a moment in which nodes are silent: it goes on.
    for node in NODES:
        bus.delete(streams.usage(node))
    reconcile()
    assert job().state == "stalled"
    train(attempt, 41)
    tell(bus, attempt, 0.2)
    reconcile()
    assert (job().state, kills()) == ("training", [])
    assert stalls()[0].ended_at is not None
    assert operator.get(f"/api/jobs/{job().id}").body["stall"] is None


@pytest.mark.django_db(transaction=True)
def test_records_that_are_late_make_no_stall(attempt: Attempt, bus: redis.Redis) -> None:
    """The hub was away: its steps are old, and the workers have reported since."""
    member = attempt.members.get(node="node-2")
    member.folded = state_to_dict(replace(runner_of(member), told_at=timezone.now() - timedelta(minutes=5)))
    member.save()
    tell(bus, attempt, 9.0)
    reconcile()
    assert (job().state, stalls()) == ("training", [])


@pytest.mark.django_db(transaction=True)
def test_a_stall_ends_with_its_round(attempt: Attempt, bus: redis.Redis) -> None:
    tell(bus, attempt, 9.0, {3: "T"})
    reconcile()
    assert (stalls()[0].rank, job().state) == (3, "stalled")
    add_round(attempt, NODES)
    tell(bus, attempt, 0.5)
    reconcile()
    assert stalls()[0].ended_at is not None
    assert job().state == "running"


@pytest.mark.django_db(transaction=True)
def test_a_job_whose_next_round_trains_is_shown_with_no_stall_of_the_round_before(
    attempt: Attempt, bus: redis.Redis, operator: Api
) -> None:
    """Between two looks as well, as soon as the records of the next round are there."""
    tell(bus, attempt, 9.0, {3: "T"})
    reconcile()
    add_round(attempt, NODES)
    train(attempt, 41)
    restand_or_log(attempt.job_id)
    shown = operator.get(f"/api/jobs/{attempt.job_id}").body
    assert (shown["state"], shown["round"], shown["stall"]) == ("training", 2, None)


@pytest.mark.django_db(transaction=True)
def test_a_moment_of_uninterruptible_sleep_names_nobody(attempt: Attempt, bus: redis.Redis) -> None:
    tell(bus, attempt, 9.0, {2: "D"})
    reconcile()
    assert (job().state, stalls()[0].rank) == ("stalled", None)
    tell(bus, attempt, 15.0, {2: "D"}, lasts_s=6.0)
    reconcile()
    assert stalls()[0].rank == 2
    assert "uninterruptible sleep (D)" in job().state_reason


@pytest.mark.django_db(transaction=True)
def test_by_policy_the_rank_is_killed_as_often_as_the_job_allows(
    attempt: Attempt, bus: redis.Redis, operator: Api
) -> None:
    row = job()
    row.spec |= {"on_stall": "restart", "stall_restarts_per_hour": 1}
    row.save()
    tell(bus, attempt, 9.0, {3: "T"})
    reconcile()
    assert kills() == []
    answer(bus, dict.fromkeys(range(4), "all_reduce"))
    reconcile()
    (kill,) = kills()
    assert (kill.body["rank"], kill.body["by"], kill.by, kill.node) == (3, "regroup", None, "node-2")
    reconcile()
    assert len(kills()) == 1
    assert "Regroup kills rank 3" in job().state_reason
    add_round(attempt, NODES)
    train(attempt)
    tell(bus, attempt, 9.0, {1: "T"})
    reconcile()
    answer(bus, dict.fromkeys(range(4), "all_reduce"))
    reconcile()
    assert len(kills()) == 1
    assert job().state_reason.endswith(
        "It is not restarted: that was done 1 time within an hour, as often as the job allows."
    )


@pytest.mark.django_db(transaction=True)
def test_usage_says_what_is_known_and_who_is_silent(
    attempt: Attempt, bus: redis.Redis, operator: Api
) -> None:
    tell(bus, attempt, 1.5, {1: "D"})
    bus.delete(streams.usage("node-2"))
    told = operator.get(f"/api/jobs/{job().id}/workers/usage").body
    assert (told["round"], told["silent"], told["stragglers"]) == (1, ["node-2"], [])
    assert [(one["rank"], one["state"], one["cpu"]) for one in told["workers"]] == [
        (0, "S", 0.5),
        (1, "D", 0.5),
    ]
    assert 1.5 <= told["workers"][0]["progress_s"] < 7
    assert operator.get("/api/jobs/999/workers/usage").status == 404


@pytest.mark.django_db(transaction=True)
def test_nodes_that_do_not_answer_are_named_among_the_stacks(
    attempt: Attempt, operator: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.jobs.stacks.WAIT_S", 0.1)
    told = operator.get(f"/api/jobs/{job().id}/stacks").body
    assert (told["groups"], told["ranks"]) == ([], [])
    assert [why.split(" has ")[0] for why in told["silent"]] == list(NODES)
    assert operator.get(f"/api/jobs/{job().id}/stacks?rank=7").body["what"] == (
        "No rank 7 of round 1 of attempt 1 runs any more."
    )


# -- a restart begins clean ----------------------------------------------------------------


def look(
    journal: RunnerJournal, silence_s: float, unheard_s: float = 0.0, said_s: float | None = None
) -> Look:
    """How it looks that long after the last record, where the node was last heard so many seconds ago.

    ``said_s``: since the workers last reported; left out, that was the last record.
    """
    runner = fold_all(journal)
    at = journal.events[-1].at + timedelta(seconds=silence_s)
    newest = RoundFacts(
        number=journal.round, world_size=2, nodes=("node-1",), cause="start", why="", formed_at=BEGAN
    )
    facts = JobFacts(members=(MemberFacts(node="node-1", runner=runner),), rounds=(newest,))
    silent_s = silence_s - unheard_s if said_s is None else said_s
    told = tuple(_silent(journal, worker, silent_s) for worker in runner.workers)
    samples = {"node-1": Sample(unheard_s, NodeUsage(at=at - timedelta(seconds=unheard_s), workers=told))}
    return look_at(views_of(facts, "a", samples), Rule(), 600)


def _silent(journal: RunnerJournal, worker: WorkerState, said_s: float) -> WorkerUsage:
    ref = worker.ref
    return WorkerUsage(
        attempt="a",
        round=journal.round,
        rank=ref.rank,
        pid=ref.pid,
        start_time=ref.start_time,
        state="S",
        said_s=said_s,
    )


def steps(journal: RunnerJournal, numbers: Iterable[int], every_s: float) -> RunnerJournal:
    for number in numbers:
        journal.began += timedelta(seconds=every_s - 1)
        journal.progress(number)
    return journal


def saving(journal: RunnerJournal, step: int) -> RunnerJournal:
    return journal.add(CheckpointBegun, round=journal.round, rank=0, step=step)


def test_a_save_that_was_cut_off_by_a_restart_counts_for_nothing_afterwards() -> None:
    journal = steps(RunnerJournal("a", "node-1", ("node-1",)).start().form().come_up(), range(1, 8), 4)
    saving(journal, 7)
    assert look(journal, 300) == "moving"
    # Killed in the middle of the save, and back: steps of four seconds, then a pause of thirty.
    journal.exit(0, "cause", "killed by SIGKILL", signal="SIGKILL").restart().form(
        "failure", "node-1"
    ).come_up()
    assert look(journal, 300) == "moving"
    steps(journal, range(1, 8), 4)
    assert look(journal, 30) == "moving"
    # The open mark of the round before hides no stall either.
    assert isinstance(look(journal, 300), Stalled)


def test_a_save_is_over_with_the_next_step_or_with_its_checkpoint() -> None:
    journal = steps(RunnerJournal("a", "node-1", ("node-1",)).start().form().come_up(), range(1, 8), 1)
    assert look(saving(journal, 7), 60) == "moving"
    assert isinstance(look(steps(journal, (8,), 1), 60), Stalled)


def test_the_same_step_told_again_is_no_new_one() -> None:
    journal = steps(RunnerJournal("a", "node-1", ("node-1",)).start().form().come_up(), (1, 2, 2, 2), 1)
    worker = fold_all(journal).workers[0]
    assert [step for step, _ in worker.trail] == [1, 2]


def test_workers_of_a_node_that_is_not_heard_are_not_called_silent() -> None:
    journal = steps(RunnerJournal("a", "node-1", ("node-1",)).start().form().come_up(), range(1, 8), 0.5)
    assert isinstance(look(journal, 5.5), Stalled)
    assert look(journal, 5.5, unheard_s=5) == "unknown"


def test_right_after_a_long_save_those_who_waited_for_it_are_not_called_silent() -> None:
    journal = steps(RunnerJournal("a", "node-1", ("node-1",)).start().form().come_up(), range(1, 8), 0.5)
    saving(journal, 7)
    journal.began += timedelta(seconds=9)
    journal.add(CheckpointSaved, round=journal.round, rank=0, step=7, path="/checkpoints/7")
    assert look(journal, 1, said_s=11) == "moving"
    assert isinstance(look(journal, 9, said_s=19), Stalled)
