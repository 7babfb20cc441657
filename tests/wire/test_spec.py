"""A spec that can never run is refused, naming the field and what to write instead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.wire.plain import start_message_from_json, to_json
from agents.wire.spec import (
    JobSpec,
    SpecError,
    StartMessage,
    check_spec,
    nproc_on,
    parse_nnodes,
    workers_on,
)


@pytest.mark.parametrize(("text", "expected"), [("2", (2, 2)), ("1:4", (1, 4)), (" 3:3 ", (3, 3))])
def test_nnodes_is_a_number_or_a_range(text: str, expected: tuple[int, int]) -> None:
    assert parse_nnodes(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("two", "MIN:MAX"),
        ("", "MIN:MAX"),
        ("1:2:3", "MIN:MAX"),
        ("-1", "MIN:MAX"),
        ("0", "1 or more"),
        ("4:2", "Write 2:4"),
    ],
)
def test_other_nnodes_are_refused_with_what_to_write(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says) as caught:
        parse_nnodes(text)
    assert caught.value.where == "nnodes"


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"nodes": 5}, "nodes"),
        ({"nproc_per_node": 0}, "nproc_per_node"),
        ({"max_restarts": -1}, "max_restarts"),
        ({"script": None}, "script"),
        ({"module": "also.this"}, "script"),
        ({"script": "relative.py"}, "script"),
        ({"shutdown_timeout": -1}, "shutdown_timeout"),
        ({"exit_barrier_timeout": -1}, "exit_barrier_timeout"),
        ({"nproc_per_node": "xpu"}, "nproc_per_node"),
        ({"no_python": True, "script": None, "module": "train"}, "no_python"),
        ({"no_python": True, "start": "exec", "script": "./train"}, "script"),
        ({"start_method": "thread"}, "start_method"),
        ({"role": "two\nlines"}, "role"),
        ({"redirects": "9"}, "redirects"),
        ({"tee": "0:3;1:1"}, "tee"),
        ({"local_ranks_filter": "0,one"}, "local_ranks_filter"),
        ({"duplicate_stdout_filters": ("loss", "")}, "duplicate_stdout_filters"),
        ({"signals_to_handle": "SIGTERM,SIGKILL"}, "signals_to_handle"),
        ({"event_log_handler": "syslog"}, "event_log_handler"),
        ({"numa_binding": "near", "start": "exec"}, "numa_binding"),
        ({"monitor_interval": 0}, "monitor_interval"),
        ({"rdzv_conf": {"no_such_key": "1"}}, "rdzv_conf"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], where: str) -> None:
    good: dict[str, Any] = {"nnodes": "1:4", "script": "/srv/train.py"}
    check_spec(JobSpec(**good))
    with pytest.raises(SpecError) as caught:
        check_spec(JobSpec(**(good | changes)))
    assert caught.value.where == where


@pytest.mark.parametrize(
    "changes",
    [
        {"nproc_per_node": "auto"},
        {"shutdown_timeout": 0, "exit_barrier_timeout": 300},
        {"no_python": True, "start": "exec", "script": "sh"},
        {"redirects": "3", "tee": "0:3,1:1", "local_ranks_filter": "0, 1"},
        {"signals_to_handle": "SIGTERM, SIGUSR1"},
        {"numa_binding": "core-complex", "start": "exec", "virtual_local_rank": True},
    ],
)
def test_torchruns_options_are_taken(changes: dict[str, Any]) -> None:
    check_spec(JobSpec(**({"script": "/srv/train.py"} | changes)))


@pytest.mark.parametrize(
    ("nproc", "with_gpus", "without"), [(3, 3, 3), ("gpu", 2, 0), ("cpu", 8, 8), ("auto", 2, 8)]
)
def test_the_number_of_workers_follows_the_devices_of_the_node(
    nproc: int | str, with_gpus: int, without: int
) -> None:
    spec = JobSpec(script="/srv/train.py", nproc_per_node=nproc)
    assert (nproc_on(spec, cpus=8, gpus=2), nproc_on(spec, cpus=8, gpus=0)) == (with_gpus, without)


def test_a_runner_starts_as_many_workers_as_its_message_says(start_message: StartMessage) -> None:
    assert workers_on(replace(start_message, nproc=4)) == 4
    assert workers_on(start_message) == start_message.spec.nproc_per_node


@pytest.fixture
def start_message() -> StartMessage:
    return StartMessage(
        attempt="j1-a1-0badcafe",
        job=1,
        job_name="char-lm",
        number=1,
        node="node-1",
        nodes=("node-1", "node-2"),
        min_nodes=1,
        max_nodes=3,
        endpoint="127.0.0.1:29400",
        hosts_store=True,
        local_addr="127.0.0.1",
        spec=JobSpec(
            script="/srv/train.py",
            args=("--steps", "5"),
            env={"A": "b"},
            nproc_per_node=2,
            duplicate_stdout_filters=("loss",),
        ),
    )


def test_a_start_message_survives_its_way_through_a_file(start_message: StartMessage) -> None:
    assert start_message_from_json(to_json(start_message)) == start_message
