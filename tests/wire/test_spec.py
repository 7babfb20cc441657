"""A spec that can never run is refused, naming the field and what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from agents.wire.plain import start_message_from_json, to_json
from agents.wire.spec import JobSpec, SpecError, StartMessage, check_spec, parse_nnodes


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
        ({"shutdown_timeout": 0}, "shutdown_timeout"),
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


def test_a_start_message_survives_its_way_through_a_file() -> None:
    message = StartMessage(
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
        spec=JobSpec(script="/srv/train.py", args=("--steps", "5"), env={"A": "b"}),
    )
    assert start_message_from_json(to_json(message)) == message
