"""Where the wall time of a job went: parts that add up to it, whatever was and was not reported."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from agents.wire.lifecycle import Phase
from tests.webapp.api_client import Api
from tests.webapp.factories import add_round, make_job, make_node, make_running_job
from tests.webapp.journals import BEGAN
from webapp.accounts.models import Account
from webapp.events.asked import note_asked
from webapp.fleet.models import Node
from webapp.jobs.goodput import goodput_out
from webapp.jobs.goodput_parts import KINDS, Goodput, goodput
from webapp.jobs.goodput_past import read_past
from webapp.jobs.goodput_turns import AttemptTimes, JobTimes, RoundTimes
from webapp.jobs.goodput_words import say_goodput, say_seconds
from webapp.jobs.models import Job, NodeMoments, PhaseSpan, Round

MOMENTS = (
    *("fault", "noticed", "down", "came", "begun", "joined", "formed", "starting", "started"),
    *("group_begun", "group_up", "checkpoint_loaded", "first_step", "pace_regained"),
)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def formed(at_s: float, workers: int = 4, moments: Mapping[str, float] = {}, **more: Any) -> RoundTimes:
    times = {name: at(seconds) for name, seconds in moments.items()}
    return RoundTimes(formed_at=at(at_s), world_size=workers, moments=times, **more)


def job_of(*attempts: AttemptTimes, until: float, **more: Any) -> JobTimes:
    return JobTimes(began_at=at(0), ends_at=at(until), attempts=attempts, **more)


FIRST = {"came": 12, "formed": 15, "started": 16, "group_up": 18, "checkpoint_loaded": 19, "first_step": 20}
AGAIN = {"fault": 60, "noticed": 60.5, "down": 61, "begun": 61, "formed": 63, "started": 64}
BACK = {**AGAIN, "group_up": 65, "checkpoint_loaded": 66, "first_step": 67}


def of(*rounds: RoundTimes, until: float, **more: Any) -> JobTimes:
    """A job that waited 10 s for its nodes."""
    return job_of(AttemptTimes(set_out_at=at(10), rounds=rounds), until=until, **more)


def restarted(is_planned: bool = False, **second: Any) -> JobTimes:
    """A round that came to step 40, and after a restart another one."""
    return of(
        formed(15, moments=FIRST, last_step=40),
        formed(63, 2, BACK, is_planned=is_planned, **second),
        until=107,
    )


def seconds(told: Goodput) -> dict[str, float | None]:
    return {part.kind: part.seconds for part in told.parts if part.seconds != 0}


# -- parts ----------------------------------------------------------------------------------


def test_a_job_that_no_node_has_begun_is_all_queue() -> None:
    told = goodput(job_of(until=30))
    assert seconds(told) == {"queue": 30, "stalled": None}
    assert told.share is None
    assert say_goodput(told) == "All of its 30 s went to the queue."


def test_the_way_to_the_first_step_is_start_rendezvous_and_checkpoint() -> None:
    told = goodput(of(formed(15, moments=FIRST), until=120))
    expected = {"queue": 10, "start": 2 + 3 + 1, "rendezvous": 3, "checkpoint": 1, "training": 100}
    assert seconds(told) == expected
    assert told.share == pytest.approx(100 / 120)
    assert say_goodput(told) == "Of 2 min, 83.3 % went to training; there was no restart."


def test_a_restart_is_down_but_for_its_rendezvous_and_its_checkpoint() -> None:
    told = goodput(restarted(resumed_step=40, last_step=60))
    assert told.seconds("down") == 1 + 2 + 1
    assert told.seconds("rendezvous") == 3 + 2
    assert told.seconds("checkpoint") == 1 + 1
    assert told.seconds("training") == 40 + 40
    assert told.restarts_s == 7
    assert say_goodput(told) == "Of 1 min 47 s, 74.7 % went to training; 1 restart cost 7.0 s."


def test_steps_made_again_are_taken_out_of_the_training_at_the_pace_of_their_round() -> None:
    told = goodput(restarted(resumed_step=30, last_step=50))
    assert told.seconds("redone") == pytest.approx(20)
    assert told.seconds("training") == pytest.approx(40 + 20)
    assert say_goodput(told).endswith("1 restart cost 7.0 s, and steps made again cost 20 s.")


def test_while_a_round_has_not_come_beyond_the_last_one_all_of_it_is_made_again() -> None:
    assert goodput(restarted(resumed_step=0, last_step=35)).seconds("redone") == pytest.approx(40)


def test_steps_are_made_again_up_to_the_farthest_that_any_round_came() -> None:
    third = {name: seconds + 50 for name, seconds in BACK.items()}
    rows = (
        formed(15, moments=FIRST, last_step=40),
        formed(63, moments=BACK, resumed_step=30, last_step=32),
        formed(113, moments=third, resumed_step=30, last_step=50),
    )
    told = goodput(of(*rows, until=137))
    assert told.seconds("redone") == pytest.approx(43 + 10)


def test_where_no_round_says_from_which_step_it_goes_on_nothing_is_claimed() -> None:
    told = goodput(restarted(last_step=50))
    assert seconds(told)["redone"] is None
    assert say_goodput(told).endswith("; in 1 round it is not known how many steps were made again.")


def test_what_somebody_asked_for_stands_apart() -> None:
    told = goodput(restarted(is_planned=True, resumed_step=30, last_step=50))
    planned = {part.kind: part.planned_s for part in told.parts if part.planned_s}
    assert planned == {"down": 4, "rendezvous": 2, "checkpoint": 1, "redone": pytest.approx(20)}
    assert "; 1 restart, a planned one, cost 7.0 s" in say_goodput(told)
    assert not any(part.planned_s for part in goodput(restarted(resumed_step=30)).parts)


def test_time_counts_for_the_workers_that_the_job_had_or_last_had() -> None:
    told = goodput(restarted(resumed_step=40, last_step=60))
    hours = {part.kind: part.worker_s for part in told.parts}
    assert hours["queue"] == 0
    assert hours["training"] == 40 * 4 + 40 * 2
    assert hours["down"] == 1 * 4 + (2 + 1) * 2
    assert hours["rendezvous"] == 3 * 4 + 2 * 4


def test_without_any_report_of_a_step_it_is_not_known_what_a_round_did() -> None:
    silent = {"came": 12, "formed": 15, "started": 16}
    told = goodput(of(formed(15, moments=silent), formed(63, moments=AGAIN), until=100))
    assert seconds(told) == {
        **{"queue": 10, "start": 2 + 1, "rendezvous": 3 + 2, "down": 1 + 1},
        **{"unknown": 44 + 36, "stalled": None},
    }
    assert told.share is None
    assert say_goodput(told) == (
        "How much of its 1 min 40 s went to training is not known: no step has been reported."
    )


def test_a_job_that_reports_steps_is_down_until_the_first_one_after_a_restart() -> None:
    told = goodput(of(formed(15, moments=FIRST, last_step=40), formed(63, moments=AGAIN), until=100))
    assert told.seconds("down") == 1 + 37
    assert told.seconds("unknown") == 0


def test_rounds_of_older_records_without_moments_are_not_known() -> None:
    told = goodput(of(formed(15), formed(63), until=100))
    assert seconds(told) == {"queue": 10, "start": 5, "unknown": 85, "stalled": None}


def test_between_two_attempts_it_is_in_the_queue_again() -> None:
    first = AttemptTimes(set_out_at=at(10), ended_at=at(60), rounds=(formed(15, moments=FIRST),))
    second = {name: seconds + 60 for name, seconds in FIRST.items()}
    again = AttemptTimes(set_out_at=at(70), rounds=(formed(75, moments=second),))
    told = goodput(job_of(first, again, until=100))
    assert told.seconds("queue") == 10 + 10
    assert told.seconds("training") == 40 + 20
    assert told.restarts == 0


def test_since_nothing_is_heard_of_any_node_nothing_is_claimed() -> None:
    told = goodput(of(formed(15, moments=FIRST), until=120, lost_sight_at=at(90)))
    assert told.seconds("training") == 70
    assert told.seconds("unknown") == 30
    assert say_goodput(told).endswith("; what 30 s went to is not known.")


def test_a_restart_that_goes_on_counts_from_when_it_was_noticed() -> None:
    coming = RoundTimes(formed_at=None, moments={"noticed": at(60), "begun": at(62)})
    told = goodput(of(formed(15, moments=FIRST), coming, until=65))
    assert told.seconds("training") == 40
    assert told.seconds("down") == 2
    assert told.seconds("rendezvous") == 3 + 3


def test_the_time_in_which_no_step_came_is_no_training() -> None:
    told = goodput(of(formed(15, moments=FIRST, stalled_s=30), until=120))
    assert (seconds(told)["training"], seconds(told)["stalled"]) == (70, 30)
    assert told.share == pytest.approx(70 / 120)
    # Only a rule about lines tells of it where no step is reported.
    quiet = goodput(of(formed(15, stalled_s=30), until=120))
    assert (seconds(quiet)["unknown"], seconds(quiet)["stalled"]) == (75, 30)


def test_three_restarts_are_told_as_one_sentence() -> None:
    def later(by_s: float, **more: Any) -> RoundTimes:
        moments = {name: seconds + by_s for name, seconds in BACK.items()}
        return formed(63 + by_s, moments=moments, resumed_step=40, last_step=40, **more)

    rows = (formed(15, moments=FIRST, last_step=40), later(0), later(100, is_planned=True), later(200))
    assert say_goodput(goodput(of(*rows, until=4320))) == (
        "Of 1 h 12 min, 99 % went to training; 3 restarts, one of them planned, cost 21 s."
    )


@pytest.mark.parametrize(
    ("seconds", "says"),
    [(0.42, "0.4 s"), (59.7, "1 min"), (250, "4 min 10 s"), (4320, "1 h 12 min"), (183600, "2 d 3 h")],
)
def test_a_length_of_time_has_its_two_largest_units(seconds: float, says: str) -> None:
    assert say_seconds(seconds) == says


# -- whatever is missing ---------------------------------------------------------------------

times = st.floats(-50, 500, allow_nan=False)
steps = st.none() | st.integers(0, 1000)
rounds = st.builds(
    lambda formed_s, moments, more: formed(formed_s, moments=moments, **more),
    times,
    st.dictionaries(st.sampled_from(MOMENTS), times),
    st.fixed_dictionaries(
        {
            "resumed_step": steps,
            "last_step": steps,
            "is_planned": st.booleans(),
            "stalled_s": st.floats(0, 100),
        }
    ),
)
attempts = st.builds(
    lambda out, end, rows: AttemptTimes(
        set_out_at=None if out is None else at(out),
        ended_at=None if end is None else at(end),
        rounds=tuple(rows),
    ),
    st.none() | times,
    st.none() | times,
    st.lists(rounds, max_size=4),
)


@given(st.lists(attempts, max_size=3), times, st.none() | times)
def test_the_parts_add_up_and_none_is_negative(
    those: list[AttemptTimes], until: float, lost: float | None
) -> None:
    told = goodput(job_of(*those, until=until, lost_sight_at=None if lost is None else at(lost)))
    assert told.wall_s == pytest.approx(max(0.0, until), abs=1e-3)
    assert sum(part.seconds or 0.0 for part in told.parts) == pytest.approx(told.wall_s, abs=1e-3)
    assert [part.kind for part in told.parts] == list(KINDS)
    for part in told.parts:
        assert (part.seconds or 0.0) >= 0
        assert part.worker_s >= 0
        assert -1e-9 <= part.planned_s <= (part.seconds or 0.0) + 1e-9
    assert say_goodput(told).endswith(".")


# -- from rows ---------------------------------------------------------------------------------


@pytest.fixture
def job(anna: Account) -> Job:
    """In its first round for a minute, of which it trained 40 s."""
    for name in ("node-1", "node-2"):
        make_node(name)
    job = make_running_job(anna, ["node-1", "node-2"], nnodes="1:2", name="char-lm")
    began = timezone.now() - timedelta(seconds=60)
    Job.objects.filter(pk=job.pk).update(created_at=began, state="training")
    attempt = job.attempts.get()
    PhaseSpan.objects.create(
        attempt=attempt, node="node-1", phase=Phase.IDLE.value, began_at=began + timedelta(seconds=5)
    )
    _write_moments(attempt.rounds.get(), began, came=6, formed=8, started=10, first_step=20)
    job.refresh_from_db()
    return job


def _write_moments(row: Round, began: datetime, **moments: float) -> None:
    row.moments = {
        name: {"at": (began + timedelta(seconds=s)).isoformat(), "node": "node-1", "rank": None, "n": 1}
        for name, s in moments.items()
    }
    row.formed_at = began + timedelta(seconds=moments["formed"])
    row.save(update_fields=["moments", "formed_at"])


def parts(body: Mapping[str, Any]) -> dict[str, Any]:
    return {part["kind"]: part for part in body["goodput"]["parts"]}


def test_a_job_tells_where_its_time_went(operator: Api, job: Job) -> None:
    body = operator.get(f"/api/jobs/{job.id}").body
    told = parts(body)
    assert told["queue"]["seconds"] == pytest.approx(5)
    assert told["start"]["seconds"] == pytest.approx(1 + 12)
    assert told["rendezvous"]["seconds"] == pytest.approx(2)
    assert told["training"]["seconds"] >= 40
    assert told["stalled"]["seconds"] == 0
    total = sum(part["seconds"] or 0.0 for part in told.values())
    assert total == pytest.approx(body["goodput"]["wall_s"], abs=1e-3)
    assert body["goodput"]["share"] == pytest.approx(
        told["training"]["seconds"] / body["goodput"]["wall_s"], abs=1e-6
    )
    assert body["goodput"]["gpu_hours"] is None


def test_workers_with_a_gpu_of_their_own_count_in_gpu_hours(operator: Api, job: Job) -> None:
    gpus = [{"index": n, "name": "H100", "memory_bytes": 1, "uuid": f"GPU-{n}"} for n in range(2)]
    for name in ("node-1", "node-2"):
        make_node_with(name, gpus)
    told = operator.get(f"/api/jobs/{job.id}").body["goodput"]
    assert told["gpu_hours"] == told["worker_hours"] > 0


def make_node_with(name: str, gpus: list[dict[str, Any]]) -> None:
    node = Node.objects.get(name=name)
    node.facts = {**node.facts, "gpus": gpus}
    node.save(update_fields=["facts"])


def test_a_kill_by_hand_and_a_wanted_number_of_nodes_are_planned(job: Job) -> None:
    attempt, began = job.attempts.get(), job.created_at
    add_round(attempt, ["node-1", "node-2"])
    add_round(attempt, ["node-1"])
    killed, scaled = attempt.rounds.filter(number__gt=1)
    Round.objects.filter(pk=scaled.pk).update(cause="membership")
    _write_moments(killed, began, fault=30, noticed=30, down=31, begun=31, formed=32, first_step=33)
    note_asked("scale_asked", attempt.id, "", {"by": "anna", "before": 2, "nodes": 1, "reason": ""})
    row = attempt.rounds.get(number=3)
    row.formed_at = timezone.now()
    row.save(update_fields=["formed_at"])
    told = goodput_out(job, read_past(job), timezone.now(), step=50)
    planned = {part.kind: part.planned_s for part in told.parts}
    assert planned["down"] >= 2
    assert planned["rendezvous"] == pytest.approx(1)
    assert "2 restarts, all of them planned," in told.says


def test_a_restart_that_nobody_asked_for_is_not_planned(job: Job) -> None:
    attempt = job.attempts.get()
    add_round(attempt, ["node-1", "node-2"])
    assert not any(part.planned_s for part in goodput_out(job, read_past(job), timezone.now()).parts)


def test_the_way_to_a_round_that_has_not_formed_is_no_training(job: Job) -> None:
    noticed = job.created_at + timedelta(seconds=30)
    NodeMoments.objects.create(
        attempt=job.attempts.get(), node="node-1", of_node={"noticed": noticed.isoformat()}
    )
    Job.objects.filter(pk=job.pk).update(state="restarting")
    job.refresh_from_db()
    told = {part.kind: part.seconds for part in goodput_out(job, read_past(job), timezone.now()).parts}
    assert told["training"] == pytest.approx(10)
    assert (told["down"] or 0.0) >= 30


def test_an_answer_costs_five_queries_however_many_rounds_there_are(
    job: Job, django_assert_max_num_queries: Any
) -> None:
    attempt = job.attempts.get()
    for _ in range(5):
        add_round(attempt, ["node-1", "node-2"])
    Round.objects.filter(attempt=attempt, number=4).update(cause="membership")
    with django_assert_max_num_queries(5):
        goodput_out(job, read_past(job), timezone.now())


def test_a_queued_job_has_only_waited(operator: Api, anna: Account) -> None:
    told = operator.get(f"/api/jobs/{make_job(anna).id}").body["goodput"]
    assert told["says"].startswith("All of its ")
    assert told["worker_hours"] == 0
