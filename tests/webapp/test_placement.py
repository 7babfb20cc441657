"""Which nodes a job gets, and what is said when there is no room."""

from __future__ import annotations

from agents.wire.spec import JobSpec
from webapp.jobs.placement import Need, NotPlaced, Placed, Room, choose


def room(node: str, free: int = 2, slots: int = 2, **more: object) -> Room:
    return Room(**{"node": node, "slots": slots, "free": free, "is_online": True, "machine": "m", **more})  # type: ignore[arg-type]


def test_a_job_gets_as_many_nodes_as_are_free_up_to_its_maximum() -> None:
    rooms = [room("node-1"), room("node-2"), room("node-3"), room("node-4")]
    assert choose(rooms, Need(low=1, high=3, slots=2)) == Placed(("node-1", "node-2", "node-3"))
    assert choose(rooms[:2], Need(low=1, high=3, slots=2)) == Placed(("node-1", "node-2"))


def test_the_nodes_with_most_room_come_first() -> None:
    rooms = [room("node-1", free=2, slots=8), room("node-2", free=8, slots=8)]
    assert choose(rooms, Need(low=1, high=1, slots=2)) == Placed(("node-2",))


def test_a_silent_node_gets_no_job() -> None:
    rooms = [room("node-1", is_online=False), room("node-2")]
    assert choose(rooms, Need(low=1, high=2, slots=1)) == Placed(("node-2",))


def test_a_full_fleet_says_which_slots_are_missing_and_who_holds_them() -> None:
    rooms = [
        room("node-1", free=0, held_by=("job 7 char-lm",)),
        room("node-2", is_online=False),
        room("node-3"),
    ]
    assert choose(rooms, Need(low=2, high=2, slots=2)) == NotPlaced(
        "Queued: needs 2 nodes with 2 free slots each; 1 is ready: "
        "node-1 has 0 of 2 free (held by job 7 char-lm), node-2 is not heard."
    )


def test_a_hub_without_nodes_says_how_to_get_one() -> None:
    answer = choose([], Need(low=1, high=1, slots=1))
    assert answer == NotPlaced(
        "Queued: needs 1 node with 1 free slot; no node has joined yet. Start regroup-agent on a machine."
    )


def test_fewer_nodes_than_needed_are_said_so_when_all_have_room() -> None:
    answer = choose([room("node-1")], Need(low=2, high=3, slots=1))
    assert answer == NotPlaced("Queued: needs 2 nodes with 1 free slot each; 1 is ready.")


def test_a_named_endpoint_makes_its_owner_the_host() -> None:
    rooms = [room("node-1", names=frozenset({"10.0.0.1"})), room("node-2", names=frozenset({"10.0.0.2"}))]
    assert choose(rooms, Need(low=2, high=2, slots=1, host="10.0.0.2")) == Placed(("node-2", "node-1"))
    assert choose(rooms, Need(low=1, high=2, slots=1, host="node-2")) == Placed(("node-2", "node-1"))


def test_a_named_endpoint_waits_for_room_on_its_owner() -> None:
    rooms = [room("node-1"), room("node-2", free=0, held_by=("job 3 x",))]
    assert choose(rooms, Need(low=1, high=2, slots=1, host="node-2")) == NotPlaced(
        "Queued: rdzv_endpoint names node-2, and that node has no room now: "
        "node-2 has 0 of 2 free (held by job 3 x)."
    )


def test_a_store_on_loopback_keeps_all_nodes_on_one_machine() -> None:
    rooms = [room("node-1", machine="a"), room("node-2", machine="b"), room("node-3", machine="b")]
    assert choose(rooms, Need(low=1, high=3, slots=1, host="localhost")) == Placed(("node-2", "node-3"))


def test_a_node_that_takes_no_jobs_is_passed_over_and_said_to() -> None:
    rooms = [room("node-1", closed="is being drained"), room("node-2")]
    assert choose(rooms, Need(low=1, high=2, slots=1)) == Placed(("node-2",))
    assert choose(rooms, Need(low=2, high=2, slots=1)) == NotPlaced(
        "Queued: needs 2 nodes with 1 free slot each; 1 is ready: node-1 is being drained."
    )


def need_of_each(nproc_per_node: int | str) -> Need:
    return Need(low=1, high=3, spec=JobSpec(script="/x.py", nproc_per_node=nproc_per_node))


def test_workers_may_be_counted_by_the_devices_of_each_node() -> None:
    rooms = [
        room("node-1", free=4, slots=4, cpus=8, gpus=4),
        room("node-2", free=2, slots=2, cpus=8, gpus=2),
        room("node-3", free=8, slots=8, cpus=8),
    ]
    need = need_of_each("gpu")
    assert choose(rooms, need) == Placed(("node-1", "node-2"))
    assert [need.on(one) for one in rooms] == [4, 2, 0]
    assert [need_of_each("auto").on(one) for one in rooms] == [4, 2, 8]
    assert choose(rooms[2:], need) == NotPlaced(
        "Queued: needs 1 node with a free slot for each worker (nproc_per_node is gpu); "
        "none is ready: node-3 has no GPUs."
    )
