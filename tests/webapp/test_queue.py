"""Whose turn it is: nothing is given out twice, nobody waits for ever, like questions get like answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from webapp.jobs.placement import Need, NotPlaced, Placed, Room
from webapp.jobs.queue import POINT, Limits, Plan, Share, Waiting, plan, say_turn
from webapp.jobs.wishes import Wish

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def room(node: str, free: int, slots: int = 4, **more: object) -> Room:
    return Room(**{"node": node, "slots": slots, "free": free, "is_online": True, "machine": node, **more})  # type: ignore[arg-type]


def waiting(job: int, low: int, slots: int, high: int | None = None, **more: object) -> Waiting:
    need = Need(low=low, high=high or low, slots=slots)
    values = {"name": f"j{job}", "user": "anna", "need": need, "since": NOON + timedelta(seconds=job)}
    return Waiting(**{"job": job, **values, **more})  # type: ignore[arg-type]


def nodes_of(seen: Plan) -> dict[int, tuple[str, ...] | None]:
    """Which nodes each job gets; None where it waits."""
    return {t.waiting.job: t.answer.nodes if isinstance(t.answer, Placed) else None for t in seen.turns}


def said(seen: Plan, job: int) -> str:
    turn = seen.turn_of(job)
    assert turn is not None
    return say_turn(turn, seen.waiting)


# -- order --


def test_priority_comes_first_and_then_who_came_first() -> None:
    queue = [waiting(1, 1, 4), waiting(2, 1, 4), waiting(3, 1, 4, priority=1)]
    assert nodes_of(plan([room("a", 4)], queue)) == {3: ("a",), 1: None, 2: None}


def test_whoever_waits_long_enough_comes_before_any_priority() -> None:
    old = waiting(1, 1, 4, priority=-100, since=NOON - 200 * POINT - timedelta(seconds=1))
    new = waiting(2, 1, 4, priority=100, since=NOON)
    assert nodes_of(plan([room("a", 4)], [new, old])) == {1: ("a",), 2: None}


def test_a_job_that_waits_says_its_place_and_who_is_ahead() -> None:
    queue = [waiting(job, 1, 4) for job in (7, 8, 9, 10)]
    seen = plan([room("a", 1, held_by=("job 1 x",))], queue)
    lacks = "Queued: needs 1 node with 4 free slots; none is ready: a has 1 of 4 free (held by job 1 x)"
    assert said(seen, 7) == f"{lacks}. It is 1st of 4 in the queue."
    assert said(seen, 8) == f"{lacks}, kept for job 7 j7. It is 2nd of 4 in the queue, behind job 7 j7."
    assert said(seen, 10).endswith("It is 4th of 4 in the queue, behind job 7 j7, job 8 j8 and 1 more.")


def test_alone_in_the_queue_nothing_is_said_of_a_place() -> None:
    assert said(plan([], [waiting(1, 1, 1)]), 1).endswith("Start regroup-agent on a machine.")


# -- what is kept for the first --


def test_a_small_job_passes_the_first_only_where_it_takes_nothing_from_it() -> None:
    rooms = [room("a", 2), room("b", 4), room("c", 1, slots=2)]
    large, small = waiting(1, 2, 4), waiting(2, 1, 1)
    assert nodes_of(plan(rooms, [large, small])) == {1: None, 2: ("c",)}
    assert nodes_of(plan(rooms[:2], [large, small])) == {1: None, 2: None}


def test_what_the_first_leaves_on_its_own_nodes_is_free_for_others() -> None:
    rooms = [room("a", 8, slots=8), room("b", 0)]
    assert nodes_of(plan(rooms, [waiting(1, 2, 4), waiting(2, 1, 4)])) == {1: None, 2: ("a",)}


def test_a_job_that_the_fleet_could_not_run_even_if_it_were_empty_holds_up_nobody() -> None:
    rooms = [room("a", 4), room("b", 0)]
    assert nodes_of(plan(rooms, [waiting(1, 3, 4), waiting(2, 1, 4)])) == {1: None, 2: ("a",)}


def test_room_is_kept_also_while_a_node_is_silent_for_a_moment_and_not_once_it_is_lost() -> None:
    silent = room("b", 4, is_online=False)
    jobs = [waiting(1, 2, 4), waiting(2, 1, 4)]
    assert nodes_of(plan([room("a", 4), silent], jobs)) == {1: None, 2: None}
    assert nodes_of(plan([room("a", 4), replace(silent, is_lost=True)], jobs)) == {1: None, 2: ("a",)}


def test_what_is_held_up_by_something_else_keeps_no_room() -> None:
    held = waiting(1, 1, 4, held="Queued: rdzv_endpoint a:29400 is held by job 3 x until that ends.")
    seen = plan([room("a", 4)], [held, waiting(2, 1, 4)])
    assert nodes_of(seen) == {1: None, 2: ("a",)}
    assert said(seen, 1) == held.held


# -- shares --


def test_nobody_gets_more_slots_than_one_may_have() -> None:
    rooms = [room("a", 4), room("b", 4), room("c", 4)]
    limits, shares = Limits(slots=8), {"anna": Share(slots=4, jobs=1)}
    elastic, other = waiting(1, 1, 4, high=3), waiting(2, 1, 4, user="ben")
    assert nodes_of(plan(rooms, [elastic, other], limits, shares)) == {1: ("a",), 2: ("b",)}
    seen = plan(rooms, [waiting(1, 2, 4), other], limits, shares)
    assert nodes_of(seen) == {1: None, 2: ("a",)}
    assert said(seen, 1) == "Queued: anna uses 4 slots, of 8 at a time, and this job needs 8 at least."


def test_nobody_gets_more_jobs_than_one_may_have() -> None:
    seen = plan([room("a", 4)], [waiting(1, 1, 1), waiting(2, 1, 1)], Limits(jobs=2), {"anna": Share(4, 1)})
    assert nodes_of(seen) == {1: ("a",), 2: None}
    assert said(seen, 2) == (
        "Queued: anna has 2 jobs running, of 2 at a time. It starts once one of them ends."
    )


# -- which nodes --


def test_wishes_leave_out_the_nodes_that_do_not_meet_them() -> None:
    rooms = [
        room("a", 4, labels={"disk": "hdd"}),
        room("b", 4, labels={"disk": "nvme"}, gpus=4, gpu_models=("NVIDIA A100",) * 4),
        room("c", 4, labels={"disk": "nvme"}, gpus=4, gpu_models=("NVIDIA H100 80GB",) * 4),
    ]

    def wish(**values: object) -> Waiting:
        need = Need(low=1, high=3, slots=1, wish=Wish(**values))  # type: ignore[arg-type]
        return waiting(1, 1, 1, need=need)

    assert nodes_of(plan(rooms, [wish(labels={"disk": "nvme"})])) == {1: ("b", "c")}
    assert nodes_of(plan(rooms, [wish(gpu_model="h100")])) == {1: ("c",)}
    assert nodes_of(plan(rooms, [wish(names=frozenset({"a"}))])) == {1: ("a",)}
    why = said(plan(rooms, [wish(labels={"disk": "nvme"}, gpu_model="A100", gpus=8)]), 1)
    assert why.endswith(
        "none is ready: a has disk=hdd, not nvme, b has 4 A100 GPUs, and 8 are asked for, "
        "c has 0 A100 GPUs, and 8 are asked for."
    )


def test_pack_takes_the_fullest_nodes_and_spread_the_emptiest() -> None:
    rooms = [room("a", 4), room("b", 2), room("c", 3)]
    packed = waiting(1, 2, 2, need=Need(low=2, high=2, slots=2, wish=Wish(packs=True)))
    assert nodes_of(plan(rooms, [packed])) == {1: ("b", "c")}
    assert nodes_of(plan(rooms, [waiting(1, 2, 2)])) == {1: ("a", "c")}


def test_the_first_in_turn_keeps_its_part_of_its_users_limits_from_the_users_other_jobs() -> None:
    rooms = [room("a", 1, slots=1), room("b", 1, slots=2)]
    first, small = waiting(1, 1, 2, priority=1), waiting(2, 1, 1)
    seen = plan(rooms, [first, small], Limits(jobs=1))
    assert nodes_of(seen) == {1: None, 2: None}
    assert "anna has 0 jobs running, and job 1 j1 is first in turn, of 1 at a time" in said(seen, 2)
    seen = plan(rooms, [first, small], Limits(slots=2))
    assert "anna uses 0 slots, 2 are kept for job 1 j1, of 2 at a time" in said(seen, 2)
    assert nodes_of(plan(rooms, [first, replace(small, user="ben")], Limits(jobs=1))) == {1: None, 2: ("a",)}


# -- what always holds --

some_rooms = st.lists(
    st.tuples(st.integers(1, 8), st.integers(0, 8), st.booleans(), st.sampled_from(["", "m"])), max_size=6
).map(
    lambda drawn: [
        room(f"n{at}", min(free, slots), slots, is_online=online, machine=machine or f"n{at}")
        for at, (slots, free, online, machine) in enumerate(drawn)
    ]
)
a_need = st.builds(
    lambda low, more, slots, packs, host: Need(low, low + more, slots, host, wish=Wish(packs=packs)),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(1, 8),
    st.booleans(),
    st.sampled_from(["", "", "localhost", "n0"]),
)
a_queue = st.lists(
    st.tuples(a_need, st.integers(-100, 100), st.integers(0, 10**5), st.sampled_from(["anna", "ben"])),
    max_size=6,
).map(
    lambda drawn: [
        waiting(
            at + 1, 1, 1, need=need, priority=priority, user=user, since=NOON + timedelta(seconds=seconds)
        )
        for at, (need, priority, seconds, user) in enumerate(drawn)
    ]
)
some_limits = st.builds(Limits, slots=st.sampled_from([0, 0, 4, 12]), jobs=st.sampled_from([0, 0, 1, 2]))


@settings(deadline=None)
@given(some_rooms, a_queue, some_limits)
def test_no_slot_is_given_out_twice_and_nobody_gets_less_than_needed(
    rooms: list[Room], queue: list[Waiting], limits: Limits
) -> None:
    seen = plan(rooms, queue, limits)
    free = {one.node: one.free for one in rooms}
    for turn in seen.turns:
        need, answer = turn.waiting.need, turn.answer
        if isinstance(answer, Placed):
            assert need.low <= len(answer.nodes) <= need.high
            assert len(set(answer.nodes)) == len(answer.nodes)
            for node in answer.nodes:
                free[node] -= need.slots
    assert min(free.values(), default=0) >= 0
    assert free == {one.node: one.free for one in seen.rooms}
    given_out = {node for nodes in nodes_of(seen).values() for node in nodes or ()}
    assert given_out <= {one.node for one in rooms if one.is_online}


@settings(deadline=None)
@given(some_rooms, a_queue, some_limits, st.randoms(use_true_random=False))
def test_the_answer_depends_on_nothing_but_the_question(
    rooms: list[Room], queue: list[Waiting], limits: Limits, chance: object
) -> None:
    seen = plan(rooms, queue, limits)
    mixed = queue.copy()
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert plan(rooms, mixed, limits) == seen


@settings(deadline=None)
@given(some_rooms, a_queue, some_limits)
def test_who_has_got_nodes_keeps_them_and_the_others_wait_as_before(
    rooms: list[Room], queue: list[Waiting], limits: Limits
) -> None:
    """A second look, after the first one's jobs were started, moves nobody and starts nobody else."""
    seen = plan(rooms, queue, limits)
    started = {job for job, nodes in nodes_of(seen).items() if nodes is not None}
    after = [replace(one, kept=0, kept_for="") for one in seen.rooms]
    shares = _shares(seen)
    again = plan(after, [one for one in queue if one.job not in started], limits, shares)
    assert set(nodes_of(again).values()) <= {None}


def _shares(seen: Plan) -> dict[str, Share]:
    shares: dict[str, Share] = {}
    for turn in seen.turns:
        if isinstance(turn.answer, Placed):
            has, slots = shares.get(turn.waiting.user, Share()), turn.waiting.need.slots
            shares[turn.waiting.user] = Share(has.slots + slots * len(turn.answer.nodes), has.jobs + 1)
    return shares


class Fleet:
    """Jobs that run, each on its nodes; they end in any order, and new small ones keep coming."""

    def __init__(self, rooms: Sequence[Room], queue: Sequence[Waiting]) -> None:
        self.rooms = {one.node: one for one in rooms}
        self.queue = list(queue)
        self.running: dict[int, tuple[int, tuple[str, ...]]] = {}
        self.next = max(one.job for one in queue) + 1

    def start(self) -> None:
        seen = plan(list(self.rooms.values()), self.queue)
        for turn in seen.turns:
            if isinstance(turn.answer, Placed):
                self._change(turn.answer.nodes, -turn.waiting.need.slots)
                self.running[turn.waiting.job] = (turn.waiting.need.slots, turn.answer.nodes)
        self.queue = [turn.waiting for turn in seen.turns if isinstance(turn.answer, NotPlaced)]

    def end(self, which: int) -> None:
        job = sorted(self.running)[which % len(self.running)]
        slots, nodes = self.running.pop(job)
        self._change(nodes, slots)

    def submit_small(self, slots: int) -> None:
        self.queue.append(waiting(self.next, 1, slots))
        self.next += 1

    def _change(self, nodes: Sequence[str], slots: int) -> None:
        for node in nodes:
            self.rooms[node] = replace(self.rooms[node], free=self.rooms[node].free + slots)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(2, 5), st.integers(2, 4))
def test_a_large_job_starts_although_small_ones_never_stop_coming(
    data: st.DataObject, many: int, slots: int
) -> None:
    """All nodes are full of small jobs, one ends at a time, and another two come for it each time."""
    rooms = [room(f"n{at}", 0, slots) for at in range(many)]
    low, each = data.draw(st.integers(1, many)), data.draw(st.integers(1, slots))
    fleet = Fleet(rooms, [waiting(1000, low, each)])
    fleet.running = {at: (1, (f"n{at // slots}",)) for at in range(many * slots)}
    for _ in range(many * slots):
        if 1000 in fleet.running:
            break
        old = [at for at, job in enumerate(sorted(fleet.running)) if job < 1000]
        fleet.end(data.draw(st.sampled_from(old)))
        fleet.submit_small(1)
        fleet.submit_small(1)
        fleet.start()
    assert 1000 in fleet.running


@settings(deadline=None)
@given(some_rooms, a_queue)
def test_what_is_ready_for_the_first_is_never_taken_by_those_behind_it(
    rooms: list[Room], queue: list[Waiting]
) -> None:
    seen = plan(rooms, queue)
    names = {one.kept_for for one in seen.rooms if one.kept}
    first = next((at for at, turn in enumerate(seen.turns) if turn.waiting.called in names), -1)
    without = plan(rooms, [turn.waiting for turn in seen.turns[: first + 1]])
    for before, after in zip(without.rooms, seen.rooms, strict=True):
        assert after.kept == before.kept
        assert after.free >= min(before.free, before.kept)
