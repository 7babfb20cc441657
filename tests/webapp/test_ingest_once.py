"""Each record counts once, whatever is delivered twice, out of order, late or broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.db.models import QuerySet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.wire.events import AnyEvent
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import NodeJournal, RunnerJournal, entries, entry, killed_and_back
from webapp.accounts.models import Account
from webapp.events.models import SET_ASIDE, Record, Source
from webapp.fleet.models import Node
from webapp.ingest.batch import Taken, take_batch
from webapp.jobs.models import Attempt, Job, Member, PhaseSpan, Round, Worker
from webapp.jobs.timeline import timeline_out

pytestmark = pytest.mark.django_db

ATTEMPT = "j1-a1-test"
NODES = ("node-1", "node-2")


@pytest.fixture
def job(anna: Account) -> Job:
    """Placed on two nodes; nothing has been heard of its runners."""
    for name in NODES:
        make_node(name)
    job = make_job(anna, state="waiting", nnodes="2", nproc_per_node=2, max_restarts=3)
    attempt = Attempt.objects.create(
        id=ATTEMPT, job=job, number=1, store_host="node-1", created_at=job.created_at
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=2) for name in NODES)
    return job


def take(events: Sequence[AnyEvent]) -> Taken:
    return take_batch(entries(events))


def rows() -> dict[str, Any]:
    """All that pages are made of, but for what the database numbers by itself."""
    return {
        "rounds": list(Round.objects.values_list("number", "world_size", "cause", "charged", "why")),
        "workers": list(Worker.objects.values_list("round", "rank", "node", "pid", "role", "said")),
        "spans": sorted(
            PhaseSpan.objects.values_list("node", "began_at", "phase", "round", "ended_at"), key=str
        ),
        "members": list(Member.objects.values_list("node", "phase", "folded")),
        "states": list(Job.objects.values_list("state", "state_reason")),
        "records": sorted(Record.objects.values_list("source", "seq", "kind", "attempt")),
    }


def test_a_job_that_was_killed_and_came_back_is_in_the_rows(job: Job) -> None:
    for journal in killed_and_back(ATTEMPT, NODES):
        take(journal.events)
    first, second = Round.objects.order_by("number")
    assert (first.cause, second.cause, second.charged) == ("start", "failure", "node-2")
    assert "Rank 3 on node-2 was killed by SIGKILL" in second.why
    assert Worker.objects.get(round=1, rank=3).role == "cause"
    assert Worker.objects.filter(round=2, role="running").count() == 4
    # Step 5 had been reached, and all went on from step 4.
    assert (first.last_step, second.resumed_step) == (5, 4)
    (_, told) = timeline_out(job).rounds
    assert (told.resumed_step, told.steps_redone) == (4, 1)
    job.refresh_from_db()
    assert job.state == "training"
    assert "Rank 3 on node-2 was killed by SIGKILL" in job.state_reason


def test_a_batch_delivered_again_is_dropped_and_acknowledged_again(job: Job) -> None:
    events = killed_and_back(ATTEMPT, NODES)[0].events
    taken = take(events)
    before = rows()
    again = take(events)
    assert rows() == before
    assert again.count == 0
    assert again.acks == taken.acks == {"node-1": {events[0].source: len(events)}}
    assert len(again.done["node-1"]) == len(events)


def test_what_lies_behind_a_gap_is_not_taken_and_the_acknowledgement_stays_behind(job: Job) -> None:
    events = killed_and_back(ATTEMPT, NODES)[0].events
    taken = take([*events[:3], *events[5:]])
    source = events[0].source
    assert taken.acks["node-1"][source] == 3
    assert taken.gaps[source] == (4, 6)
    assert Record.objects.filter(source=source).count() == 3
    # All entries leave the stream: the node sends again what was not acknowledged.
    assert len(taken.done["node-1"]) == len(events) - 2
    assert take(events).acks["node-1"][source] == len(events)
    assert Record.objects.filter(source=source).count() == len(events)


BROKEN = {
    "no JSON": "{torn",
    "no record": '"just a word"',
    "unknown kind": '{"kind": "from_the_future", "seq": 2}',
    "a field is missing": '{"kind": "runner_started", "source": "s", "seq": 2}',
}


def aside() -> QuerySet[Record]:
    return Record.objects.filter(kind=SET_ASIDE)


def test_what_was_set_aside_is_shown_at_its_job_and_its_node(job: Job, operator: Api) -> None:
    events = killed_and_back(ATTEMPT, NODES)[0].events
    take_batch(
        [*entries(events[:1]), entry(events[1], "{"), *entries(NodeJournal("node-1").started().events)]
    )
    shown = operator.get(f"/api/jobs/{job.id}/events").body["items"]
    says = [item["says"] for item in shown if item["kind"] == SET_ASIDE]
    assert len(says) == 1
    assert "could not be used and was set aside: not a JSON message" in says[0]
    nodes = {node["name"]: node["set_aside"] for node in operator.get("/api/nodes").body["items"]}
    assert nodes["node-1"] == 1


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_an_entry_that_cannot_be_read_is_set_aside_and_passed(job: Job, text: str) -> None:
    events = killed_and_back(ATTEMPT, NODES)[0].events
    batch = [*entries(events[:1]), entry(events[1], text), *entries(events[2:4])]
    taken = take_batch(batch)
    assert taken.acks["node-1"][events[0].source] == 4
    kept = aside().get()
    assert (kept.source, kept.seq, kept.node, kept.attempt) == (events[0].source, 2, "node-1", ATTEMPT)
    assert kept.body["text"] == text
    assert kept.body["why"]
    assert Record.objects.exclude(kind=SET_ASIDE).count() == 3


def test_a_record_under_another_name_than_its_own_is_set_aside(job: Job) -> None:
    events = killed_and_back(ATTEMPT, NODES)[0].events
    batch = [replace(entry(events[0]), node="node-2")]
    take_batch(batch)
    assert aside().get().node == "node-2"
    assert not Record.objects.exclude(kind=SET_ASIDE).exists()


def test_an_entry_without_a_source_is_set_aside_and_removed(job: Job) -> None:
    nameless = replace(entry(killed_and_back(ATTEMPT, NODES)[0].events[0]), source="", seq=0)
    taken = take_batch([nameless, *entries(NodeJournal("node-1").started().events)])
    assert aside().get().body["text"] == nameless.text
    assert nameless.entry_id in taken.done["node-1"]
    assert "" not in taken.acks.get("node-1", {})
    assert Record.objects.exclude(kind=SET_ASIDE).count() == 1


def test_a_record_that_no_column_can_hold_is_set_aside_and_stops_no_other(job: Job) -> None:
    journal = RunnerJournal(ATTEMPT, "node-1", NODES).start()
    journal.round = 2**70
    journal.progress(1)
    other = NodeJournal("node-2").started(slots=7)
    taken = take([*journal.events, *other.events])
    assert aside().get().seq == 2
    assert taken.acks["node-1"][journal.source] == 2
    assert Node.objects.get(name="node-2").slots == 7


def test_a_nul_character_does_no_harm(job: Job) -> None:
    journal = RunnerJournal(ATTEMPT, "node-1", NODES).start().form().come_up()
    journal.exit(0, "cause", "exited with code 1: ValueError: a\0b", exit_code=1)
    take(journal.events)
    assert "\0" not in Worker.objects.get(role="cause").said
    assert not aside().exists()


def test_records_of_an_attempt_that_is_not_known_are_kept_and_change_nothing(job: Job) -> None:
    before = rows()
    take(RunnerJournal("j9-a9-elsewhere", "node-1", NODES).start().form().events)
    assert Record.objects.filter(attempt="j9-a9-elsewhere").count() == 4
    assert {**rows(), "records": []} == {**before, "records": []}


def test_a_late_record_of_an_old_attempt_changes_nothing_current(job: Job) -> None:
    old, new = killed_and_back(ATTEMPT, NODES), "j1-a2-test"
    for journal in old:
        take(journal.events[:5])
    attempt = Attempt.objects.create(
        id=new, job=job, number=2, store_host="node-1", created_at=job.created_at
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=2) for name in NODES)
    for journal in killed_and_back(new, NODES):
        take(journal.events)
    job.refresh_from_db()
    says = (job.state, job.state_reason)
    for journal in old:
        take(journal.events)
    job.refresh_from_db()
    assert (job.state, job.state_reason) == says


def _mixed(journals: list[list[AnyEvent]], order: list[int]) -> list[AnyEvent]:
    """The journals interleaved, each in its own order."""
    left = [iter(journal) for journal in journals]
    return [event for index in order if (event := next(left[index], None)) is not None]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_rows_do_not_depend_on_the_order_across_sources(job: Job, data: st.DataObject) -> None:
    journals = [journal.events for journal in killed_and_back(ATTEMPT, NODES)]
    journals.append(NodeJournal("node-1").started().events)
    plain = [index for index, journal in enumerate(journals) for _ in journal]
    expected = _rows_after(_mixed(journals, plain), [1000])
    order = data.draw(st.permutations(plain))
    cuts = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    assert _rows_after(_mixed(journals, order), cuts) == expected


def _rows_after(events: list[AnyEvent], sizes: list[int]) -> dict[str, Any]:
    """Rows once these have been taken, in batches of these sizes; then all is as before."""
    for model in (Round, Worker, PhaseSpan, Record, Source):
        model.objects.all().delete()
    Member.objects.update(folded={}, phase="launching")
    Job.objects.update(state="waiting", state_reason="")
    at, turn = 0, 0
    while at < len(events):
        size = sizes[turn % len(sizes)]
        take(events[at : at + size])
        at, turn = at + size, turn + 1
    return rows()
