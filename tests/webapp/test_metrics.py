"""What ranks reported over time, as bands over all of them, round by round, at any zoom."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from agents.wire.runner_events import Claim, Progress, RankProgress, TorchMetric, TorchMetrics
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import BEGAN, RunnerJournal, entries
from webapp.accounts.models import Account
from webapp.ingest.batch import take_batch
from webapp.jobs.bands import KEPT_SLOTS
from webapp.jobs.metric_fold import MOST_NAMES
from webapp.jobs.metric_thinning import thin_once
from webapp.jobs.models import Attempt, Job, Member, MetricSlot

pytestmark = pytest.mark.django_db

NODES = ("node-1", "node-2")


@pytest.fixture
def job(anna: Account) -> Job:
    for name in NODES:
        make_node(name)
    return make_job(anna, state="training", nnodes="2", nproc_per_node=2)


def journals(job: Job, number: int = 1, began: datetime = BEGAN) -> list[RunnerJournal]:
    """Of the attempt with that number: two nodes that are up, two ranks each."""
    attempt = Attempt.objects.create(
        id=f"j1-a{number}-m", job=job, number=number, store_host="node-1", endpoint="h:1", created_at=began
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=2) for name in NODES)
    made = [RunnerJournal(attempt.id, node, NODES, ranks=2, began=began) for node in NODES]
    return [journal.start().form().come_up() for journal in made]


def report(journal: RunnerJournal, after_s: float, step: int, **losses: float) -> None:
    """``losses``: by rank, as in ``r0=1.5``."""
    ranks = tuple(
        RankProgress(rank=int(rank[1:]), step=step, metrics={"loss": loss}) for rank, loss in losses.items()
    )
    journal.add(Progress, round=journal.round, ranks=ranks, at=journal.began + timedelta(seconds=after_s))


def ship(*journals: RunnerJournal) -> None:
    """What was not shipped before."""
    for journal in journals:
        take_batch(entries(journal.events))


def metrics(who: Api, job: Job, **query: Any) -> dict[str, Any]:
    asked = urlencode(query, doseq=True)
    found = who.get(f"/api/jobs/{job.id}/metrics?{asked}")
    assert found.status == 200, found.body
    body: dict[str, Any] = found.body
    return body


def runs(told: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = next(one["runs"] for one in told["series"] if one["name"] == name)
    return found


def test_a_band_spans_ranks_of_nodes_whose_reports_arrive_apart(operator: Api, job: Job) -> None:
    first, second = journals(job)
    report(first, 20.0, 7, r0=1.0, r1=4.0)
    report(second, 20.5, 8, r2=2.0, r3=9.0)
    ship(first)
    ship(second)
    (run,) = runs(metrics(operator, job), "loss")
    assert (run["attempt"], run["round"]) == (1, 1)
    assert (run["min"], run["mean"], run["max"]) == ([1.0], [4.0], [9.0])
    assert (run["min_rank"], run["max_rank"]) == ([0], [3])
    assert run["step"] == [7.5]
    assert run["t"] == [BEGAN.timestamp() + 20.25]


def test_a_record_delivered_twice_counts_once(operator: Api, job: Job) -> None:
    first, _ = journals(job)
    report(first, 20, 7, r0=1.0, r1=2.0)
    ship(first)
    before = metrics(operator, job)
    ship(first)
    assert metrics(operator, job) == before
    assert set(MetricSlot.objects.values_list("level", "reports")) == {(level, 2) for level in range(4)}


def test_steps_and_their_rate_are_told_of_every_job_that_reports(operator: Api, job: Job) -> None:
    first, _ = journals(job)
    for second in range(20, 60):
        report(first, second, 5 * second, r0=1.0)
    ship(first)
    told = metrics(operator, job)
    assert [one["name"] for one in told["names"]] == ["step", "rate", "loss"]
    (run,) = runs(told, "rate")
    assert set(run["mean"]) == {5.0}
    assert run["max_rank"][0] is None


def test_a_spike_of_one_report_is_seen_at_any_zoom(operator: Api, job: Job) -> None:
    first, second = journals(job)
    for turn in range(600):
        report(first, 20 + 2 * turn, turn, r0=1.0, r1=1.0)
        report(second, 20 + 2 * turn, turn, r2=1.0, r3=77.0 if turn == 311 else 1.0)
    ship(first, second)
    for points in (2, 10, 400):
        (run,) = runs(metrics(operator, job, points=points), "loss")
        assert len(run["t"]) <= points + 1
        assert max(run["max"]) == 77.0
        assert run["max_rank"][run["max"].index(77.0)] == 3
        assert min(run["min"]) == 1.0


def test_a_part_is_told_more_finely(operator: Api, job: Job) -> None:
    first, _ = journals(job)
    for turn in range(600):
        report(first, 20 + 2 * turn, turn, r0=float(turn))
    ship(first)
    whole = metrics(operator, job, points=10)
    begin, end = (BEGAN + timedelta(seconds=each) for each in (600, 640))
    part = metrics(operator, job, points=20, **{"from": begin.isoformat(), "to": end.isoformat()})
    assert (whole["every_s"], part["every_s"]) == (128.0, 2.0)
    (run,) = runs(part, "loss")
    assert [begin.timestamp() - 2 <= t <= end.timestamp() + 2 for t in run["t"]] == [True] * 20
    assert run["min"] == run["max"]


def test_rounds_and_attempts_are_lines_of_their_own_and_say_why_they_began(operator: Api, job: Job) -> None:
    first, second = journals(job)
    claims = (Claim(node="node-2", role="cause", ranks=(3,)),)
    report(first, 20, 10, r0=3.0)
    for journal in (first, second):
        if journal is second:
            journal.exit(1, "cause", "killed by SIGKILL", signal="SIGKILL", ended_by="signal")
        else:
            journal.exit(0, "peer_lost", "lost its connection to another worker", exit_code=1)
        journal.restart().form("failure", "node-2", claims).come_up()
    report(first, 30, 5, r0=4.0)
    ship(first, second)
    later, _ = journals(job, 2, BEGAN + timedelta(seconds=60))
    report(later, 20, 5, r0=5.0)
    ship(later)

    told = metrics(operator, job)
    assert [(run["attempt"], run["round"], run["mean"]) for run in runs(told, "loss")] == [
        (1, 1, [3.0]),
        (1, 2, [4.0]),
        (2, 1, [5.0]),
    ]
    marks = [(one["attempt"], one["number"], one["restart"], one["kind"]) for one in told["rounds"]]
    assert marks == [(1, 1, "start", None), (1, 2, "failure", "signal"), (2, 1, "start", None)]
    assert "killed by SIGKILL" in told["rounds"][1]["sentence"]
    only = metrics(operator, job, attempt=2)
    assert [one["attempt"] for one in only["rounds"]] == [2]
    assert [run["mean"] for run in runs(only, "loss")] == [[5.0]]


def test_only_what_is_asked_for_is_told(operator: Api, job: Job) -> None:
    first, _ = journals(job)
    first.add(TorchMetrics, metrics=(TorchMetric(group="g", name="x.ms", count=3, sum=6, min=1, max=3),))
    report(first, 20, 1, r0=3.0)
    ship(first)
    assert [one["name"] for one in metrics(operator, job)["series"]] == ["step", "loss"]
    told = metrics(operator, job, names=["torch:x.ms"])
    assert {"name": "torch:x.ms", "group": "torch"} in told["names"]
    (run,) = runs(told, "torch:x.ms")
    assert (run["min"], run["mean"], run["max"], run["step"]) == ([1.0], [2.0], [3.0], [None])


def test_of_too_many_metrics_the_first_are_kept_and_the_others_named(operator: Api, job: Job) -> None:
    first, _ = journals(job)
    for turn in range(2):
        names = {f"m{number:03}": 1.0 for number in range(80)}
        ranks = (RankProgress(rank=0, step=turn, metrics=names),)
        first.add(Progress, round=1, ranks=ranks, at=BEGAN + timedelta(seconds=20 + turn))
    ship(first)
    told = metrics(operator, job)
    kept = [one["name"] for one in told["names"] if one["name"] != "rate"]
    assert kept == ["step", *(f"m{number:03}" for number in range(MOST_NAMES - 1))]
    assert told["most"] == MOST_NAMES
    assert told["not_kept"][0] == "m049"
    assert len(told["not_kept"]) == 20


def test_names_and_values_that_a_database_cannot_hold_cost_no_record(operator: Api, job: Job) -> None:
    first, _ = journals(job)
    odd = {"a\0b": 1.0, "n" * 300: 2.0, "": 3.0, "huge": 1e308, "loss": 4.0}
    ranks = (RankProgress(rank=0, step=1, metrics=odd),)
    first.add(Progress, round=1, ranks=ranks, at=BEGAN + timedelta(seconds=20))
    ship(first)
    told = metrics(operator, job)
    assert runs(told, "loss")[0]["mean"] == [4.0]
    assert "huge" not in {one["name"] for one in told["names"]}
    assert MetricSlot.objects.count() == 4


def test_a_job_that_reports_nothing_has_no_series(operator: Api, job: Job) -> None:
    journals(job)
    told = metrics(operator, job)
    assert (told["names"], told["series"], told["began_at"]) == ([], [], None)


def test_what_is_thinned_out_is_told_from_longer_stretches(operator: Api, job: Job) -> None:
    first, _ = journals(job)
    for turn in range(0, KEPT_SLOTS + 2000, 50):
        report(first, 20 + 2 * turn, turn, r0=8.0 if turn == 100 else 1.0)
    ship(first)
    (before,) = runs(metrics(operator, job, points=50), "loss")
    assert thin_once() > 0
    assert thin_once() == 0
    (after,) = runs(metrics(operator, job, points=50), "loss")
    assert after == before
    end = (BEGAN + timedelta(minutes=20)).isoformat()
    (early,) = runs(metrics(operator, job, points=2000, to=end), "loss")
    assert max(early["max"]) == 8.0


@pytest.mark.parametrize("query", ["points=1", "from=yesterday", "from=2026-03-01T14:00:00", "attempt=first"])
def test_a_question_that_makes_no_sense_is_refused(operator: Api, job: Job, query: str) -> None:
    assert operator.get(f"/api/jobs/{job.id}/metrics?{query}").status == 422


def test_patterns_for_the_log_are_checked_at_launch_and_kept(operator: Api, job: Job) -> None:
    spec = {"script": "/srv/train.py", "nnodes": "2"}
    refused = operator.post("/api/jobs", {**spec, "log_metrics": [r"loss (?P<loss>\S+)"]})
    assert refused.status == 422
    assert refused.body["where"] == "log_metrics"
    assert "named step" in refused.body["what"]
    patterns = [r"step (?P<step>\d+)/(?P<total>\d+)", r"loss (?P<loss>\S+)"]
    launched = operator.post("/api/jobs", {**spec, "log_metrics": patterns})
    assert launched.status == 201
    assert launched.body["spec"]["log_metrics"] == patterns
