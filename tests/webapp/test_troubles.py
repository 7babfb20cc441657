"""Troubles with a known answer, told from what nodes, rounds and workers really say."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agents.runner.tracebacks import last_exception
from agents.wire.lifecycle import JobState, Phase
from tests.webapp.journals import BEGAN
from webapp.jobs.troubles import NodeSeen, RoundSeen, Trouble, TroubleFacts, WorkerEnd, troubles_of_job
from webapp.jobs.troubles_of_workers import troubles_of_workers

LONG = {"since": BEGAN, "waits_s": 20.0}


def only(found: list[Trouble]) -> Trouble:
    assert len(found) == 1, found
    return found[0]


# -- the rendezvous ------------------------------------------------------------------------------


def inside(node: str, *joined: str, **more: Any) -> NodeSeen:
    return NodeSeen(node=node, phase=Phase.RENDEZVOUS, joined=joined, machine=node, **more)


def short(**more: Any) -> TroubleFacts:
    """Two of three nodes wait for the third, which is not heard."""
    met = ("node-1", "node-2")
    silent = NodeSeen(node="node-3", phase=Phase.UP, is_heard=False)
    members = (inside("node-1", *met), inside("node-2", *met), silent)
    facts: dict[str, Any] = {"min_nodes": 3, "max_nodes": 3, "members": members}
    return TroubleFacts(**{"state": JobState.WAITING, **facts, **more})


def test_a_fixed_number_of_nodes_and_one_short_says_what_would_help() -> None:
    trouble = only(troubles_of_job(short()))
    assert trouble.kind == "nodes_short"
    assert trouble.sentence == (
        "nnodes is 3, a fixed number, and 2 nodes joined: no round forms with fewer. node-3 is not heard. "
        "The attempt ends after 600 s of this (join_timeout)."
    )
    assert "Bring node-3 back." in trouble.what_to_do
    assert "nnodes 2:3" in trouble.what_to_do


def test_a_node_that_is_on_its_way_is_no_trouble() -> None:
    coming = NodeSeen(node="node-3", phase=Phase.IDLE)
    assert troubles_of_job(short(members=(*short().members[:2], coming))) == []


def test_a_range_of_nodes_that_is_short_is_no_trouble_of_that_kind() -> None:
    assert troubles_of_job(short(min_nodes=2)) == []


def test_a_node_that_is_over_is_told_as_such() -> None:
    over = NodeSeen(node="node-3", phase=Phase.ENDED)
    assert "node-3 is over." in only(troubles_of_job(short(members=(*short().members[:2], over)))).sentence


def apart(**more: Any) -> TroubleFacts:
    members = (inside("node-1", "node-1", **LONG), inside("node-2", "node-2", **LONG))
    facts: dict[str, Any] = {
        "min_nodes": 2,
        "max_nodes": 2,
        "endpoint": "localhost:29400",
        "members": members,
    }
    return TroubleFacts(**{"state": JobState.WAITING, **facts, **more})


def test_nodes_that_each_see_only_themselves_meet_at_different_places() -> None:
    trouble = only(troubles_of_job(apart()))
    assert trouble.kind == "do_not_meet"
    assert trouble.sentence == (
        "Since 14:00:00 UTC node-1 and node-2 are in the rendezvous, and each of them sees only itself. "
        "rdzv_endpoint is localhost:29400, which is another machine on each node."
    )


def test_another_host_by_hand_is_not_called_loopback() -> None:
    assert (
        "rdzv_endpoint is store.lan:29400, given by hand."
        in only(troubles_of_job(apart(endpoint="store.lan:29400"))).sentence
    )


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": ""},
        {"members": (inside("node-1", "node-1", **LONG), inside("node-2", "node-1", "node-2", **LONG))},
        {"members": (inside("node-1", "node-1", **LONG), inside("node-2", "node-2", since=BEGAN, waits_s=2))},
    ],
)
def test_nodes_that_meet_or_have_just_come_are_no_trouble(change: dict[str, Any]) -> None:
    assert troubles_of_job(apart(**change)) == []


def test_an_endpoint_that_nobody_answers_at_is_named() -> None:
    idle = NodeSeen(node="node-1", phase=Phase.IDLE, since=BEGAN + timedelta(seconds=1), waits_s=20)
    trouble = only(troubles_of_job(apart(members=(idle,), endpoint="store.lan:29400")))
    assert trouble.sentence == (
        "Up since 14:00:01 UTC, and not in the rendezvous yet: node-1. "
        "rdzv_endpoint is store.lan:29400, given by hand."
    )
    reason = (
        "The rendezvous store at store.lan:29400 could not be reached within 600 s: [Errno 111] "
        "Connection refused. "
        "See whether its node runs and its port is open."
    )
    failed = NodeSeen(node="node-1", phase=Phase.ENDED, reason=reason)
    told = troubles_of_job(apart(members=(failed,), endpoint="store.lan:29400", state=JobState.FAILED))
    assert only(told).sentence.startswith(reason)


# -- ended where it could have gone on ------------------------------------------------------------


NO_BUDGET = "Rank 3 on node-2 was killed by SIGKILL, and the job allows no failure restarts (max_restarts 0)."


def ended(reason: str, **more: Any) -> TroubleFacts:
    facts: dict[str, Any] = {"min_nodes": 2, "max_nodes": 2, "max_restarts": 3}
    member = NodeSeen(node="node-2", phase=Phase.ENDED, reason=reason, died=more.pop("died", False))
    return TroubleFacts(state=JobState.FAILED, members=(member,), **{**facts, **more})


def test_without_any_restart_the_first_failure_ended_it() -> None:
    trouble = only(troubles_of_job(ended(NO_BUDGET, max_restarts=0)))
    assert trouble.kind == "did_not_shrink"
    assert trouble.sentence == "The first failure ended the job, because its max_restarts is 0."
    assert "max_restarts 1 or more" in trouble.what_to_do
    assert "nnodes 1:2" in trouble.what_to_do


def test_a_spent_budget_is_another_matter() -> None:
    spent = "Rank 3 on node-2 was killed by SIGKILL, and node-2 has no failure restarts left (3 of 3 spent)."
    assert troubles_of_job(ended(spent)) == []


def test_a_fixed_number_of_nodes_could_not_shrink() -> None:
    reason = (
        "No round formed within 600 s (join_timeout): node-1 (it left) is missing, and at least 2 nodes are "
        "needed."
    )
    trouble = only(troubles_of_job(ended(reason)))
    assert trouble.sentence == f"The job could not go on with fewer nodes, because nnodes is 2. {reason}"
    assert trouble.what_to_do.startswith("With a range of nodes, such as nnodes 1:2, it goes on")
    assert troubles_of_job(ended(reason, min_nodes=1)) == []


def test_static_ends_with_its_first_node() -> None:
    trouble = only(
        troubles_of_job(ended("The runner on node-2 was killed (SIGKILL).", died=True, backend="static"))
    )
    assert "because rdzv_backend is static" in trouble.sentence
    assert "rdzv_backend c10d" in trouble.what_to_do


# -- steps that jump ------------------------------------------------------------------------------


def rounds(second: dict[str, Any], state: JobState = JobState.TRAINING, **more: Any) -> TroubleFacts:
    first = RoundSeen(number=1, world_size=4, last_step=480, reports_steps=True)
    again = RoundSeen(number=2, **{"world_size": 4, "reports_steps": True, **second})
    return TroubleFacts(state=state, rounds=(first, again), **more)


def test_a_round_that_began_at_0_again_is_told() -> None:
    trouble = only(troubles_of_job(rounds({"resumed_step": 0}, step=3, checkpoint_step=400)))
    assert trouble.kind == "not_resumed"
    assert trouble.sentence == "Round 2 began again at step 0, although round 1 had come to step 480."


def test_a_round_below_the_last_checkpoint_did_not_load_it() -> None:
    assert only(troubles_of_job(rounds({}, step=3, checkpoint_step=400))).sentence == (
        "Round 2 is at step 3, and round 1 had come to step 480 and saved step 400. It did not say that "
        "it resumed."
    )


def test_where_checkpoints_are_saved_and_none_was_said_to_be_loaded_just_that_is_told() -> None:
    assert only(troubles_of_job(rounds({}, step=490, checkpoint_step=400))).sentence == (
        "Checkpoints are saved, the newest one at step 400, and round 2 did not say that it resumed from one."
    )


@pytest.mark.parametrize(
    ("second", "more"),
    [
        ({"resumed_step": 400}, {"step": 410, "checkpoint_step": 400}),
        ({"reports_steps": False}, {"checkpoint_step": 400}),
        ({}, {"step": 490}),
    ],
)
def test_a_round_that_went_on_or_says_nothing_is_no_trouble(
    second: dict[str, Any], more: dict[str, Any]
) -> None:
    assert troubles_of_job(rounds(second, **more)) == []


def test_another_number_of_ranks_is_a_question() -> None:
    trouble = only(troubles_of_job(rounds({"world_size": 2, "resumed_step": 400}, step=410)))
    assert trouble.kind == "other_size"
    assert trouble.sentence == (
        "Round 2 has 2 ranks, and round 1 had 4. Does the script divide its data anew? Regroup does not "
        "see that."
    )


# -- what workers say -----------------------------------------------------------------------------


def said(
    text: str, said: str = "exited with code 1", env: dict[str, str] | None = None, **more: Any
) -> TroubleFacts:
    end = WorkerEnd(**{"rank": 1, "node": "node-2", "said": said, "text": text, "source": "stderr", **more})
    members = tuple(NodeSeen(node=n, phase=Phase.UP, machine=n) for n in ("node-1", "node-2"))
    return TroubleFacts(state=JobState.FAILED, env=env or {}, members=members, ends=(end,))


def test_an_interface_that_gloo_does_not_find_is_named_with_the_variable() -> None:
    text = (
        "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != "
        "nullptr. "
        "Unable to find address for: eth9"
    )
    trouble = only(troubles_of_workers(said(text, env={"GLOO_SOCKET_IFNAME": "eth9"})))
    assert trouble.kind == "network_interface"
    assert trouble.sentence == (
        "gloo finds no interface or address eth9 on node-2. The job sets GLOO_SOCKET_IFNAME to eth9."
    )
    assert trouble.source == "stderr of rank 1 on node-2"
    assert trouble.what_to_do.startswith("Set GLOO_SOCKET_IFNAME")


NCCL = (
    "torch.distributed.DistBackendError: NCCL error in: "
    "/pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2588, "
    "internal error - please report this issue to the NCCL developers, NCCL version 2.21.5\n"
    "ncclInternalError: Internal check failed.\nLast error:\n{last}"
)


@pytest.mark.parametrize(
    "last",
    [
        "Bootstrap : no socket interface found",
        "ncclSocketInit: connecting to address  with family 59936 is neither AF_INET(2) nor AF_INET6(10)",
    ],
)
def test_nccl_without_an_interface_names_its_variable(last: str) -> None:
    trouble = only(troubles_of_workers(said(NCCL.format(last=last), env={"NCCL_SOCKET_IFNAME": "eth9"})))
    assert trouble.sentence == (
        "NCCL finds no network interface to use on node-2. The job sets NCCL_SOCKET_IFNAME to eth9."
    )
    assert "NCCL_SOCKET_IFNAME" in trouble.what_to_do


def test_an_address_that_nccl_does_not_reach_is_named() -> None:
    last = "socketStartConnect: Connect to 172.17.0.1<43211> failed : Software caused connection abort"
    trouble = only(troubles_of_workers(said(NCCL.format(last=last))))
    assert (
        "could not connect to another rank at 172.17.0.1: Software caused connection abort."
        in trouble.sentence
    )


def test_a_refused_connection_is_a_peer_that_has_gone_and_no_matter_of_interfaces() -> None:
    last = "socketStartConnect: Connect to 10.0.0.2<43211> failed : Connection refused"
    assert troubles_of_workers(said(NCCL.format(last=last))) == []


LOOPBACK = (
    "RuntimeError: Gloo connectFullMesh failed with "
    "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152] "
    "timed out connecting: SO_ERROR: Connection refused, remote=[127.0.0.1]:14215"
)


def test_gloo_on_loopback_between_machines_is_told_and_on_one_machine_is_not() -> None:
    facts = said(LOOPBACK, is_cause=False)
    trouble = only(troubles_of_workers(facts))
    assert "looked for a rank of another machine at 127.0.0.1, which is node-2 itself" in trouble.sentence
    one = tuple(replace(member, machine="boot-1") for member in facts.members)
    assert troubles_of_workers(replace(facts, members=one)) == []


SHARED_MEMORY_STDERR = """\
Traceback (most recent call last):
  File "/data/train.py", line 6, in <module>
    for b in DataLoader(D(), num_workers=2, batch_size=8): pass
  File "/venv/lib/python3.11/site-packages/torch/_utils.py", line 794, in reraise
    raise exception
RuntimeError: Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 374, in _worker_loop
    data = fetcher.fetch(index)  # type: ignore[possibly-undefined]
           ^^^^^^^^^^^^^^^^^^^^
  File "/venv/lib/python3.11/site-packages/torch/storage.py", line 414, in _new_shared
    return cls._new_using_fd_cpu(size)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: unable to allocate shared memory(shm) for file </torch_6643_1_0>: No space left on device (28)
"""
"""As torch 2.13 wrote it with a /dev/shm of 2 MiB."""


def test_a_data_loader_that_found_no_room_is_read_out_of_the_workers_stderr() -> None:
    error = last_exception(SHARED_MEMORY_STDERR)
    assert error is not None
    trouble = only(troubles_of_workers(said(f"{error.message}\n{error.traceback}")))
    assert trouble.kind == "shared_memory"


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: DataLoader worker (pid 11011) is killed by signal: Bus error. It is possible that "
        "dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
        "RuntimeError: unable to allocate shared memory(shm) for file </torch_4411_2>: No space left on "
        "device (28)",
        "RuntimeError: unable to write to file </torch_4411_2>: No space left on device (28)",
        NCCL.format(last="Error while creating shared memory segment /dev/shm/nccl-WU88OE (size 9637888)"),
    ],
)
def test_too_little_shared_memory_is_told_with_the_node(text: str) -> None:
    trouble = only(troubles_of_workers(said(text)))
    assert trouble.kind == "shared_memory"
    assert trouble.sentence.endswith("Its last words say that /dev/shm on node-2 has not enough room.")
    assert "df -h /dev/shm" in trouble.what_to_do


QUIET = "exited with code 1 and wrote nothing to stderr"


def test_an_end_at_once_without_a_word_says_where_to_look() -> None:
    trouble = only(troubles_of_workers(said("", QUIET, exit_code=1, lived_s=0.31, source="exit status")))
    assert trouble.kind == "died_at_import"
    assert trouble.sentence == (
        "Rank 1 on node-2 exited with code 1 and wrote nothing to stderr, 0.3 s after its start."
    )
    assert "stdout" in trouble.what_to_do


@pytest.mark.parametrize(
    "more",
    [
        {"said": QUIET, "lived_s": 40.0, "exit_code": 1},
        {"said": "exited with code 1: ValueError: bad learning rate -3", "lived_s": 0.3, "exit_code": 1},
        {"said": "killed by SIGKILL", "lived_s": 0.3},
        {"said": QUIET, "lived_s": 0.3, "exit_code": 1, "is_cause": False},
    ],
)
def test_other_ends_are_left_to_the_failure_card(more: dict[str, Any]) -> None:
    assert troubles_of_workers(said("", **more)) == []
