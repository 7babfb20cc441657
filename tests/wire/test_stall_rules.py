"""What a job may say of stalls, and what it is told otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from agents.wire.spec import JobSpec, SpecError, check_spec


def spec(**fields: Any) -> JobSpec:
    return JobSpec(script="/data/train.py", **fields)


def test_what_makes_sense_is_taken() -> None:
    check_spec(spec())
    check_spec(spec(stall_after_s=0))
    check_spec(
        spec(stall_after_s=2.5, stall_log_regex=r"epoch \d+", stall_log_start_s=0, stall_log_every_s=30)
    )
    check_spec(spec(on_stall="restart", stall_restarts_per_hour=0))


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("stall_after_s", -1, "the job's own pace"),
        ("stall_log_regex", "epoch (", "Write a regular expression"),
        ("stall_log_regex", "a" * 501, "at most 500 characters"),
        ("stall_log_start_s", -1, "at the beginning of a round"),
        ("stall_log_every_s", 0, "or leave it out"),
        ("on_stall", "panic", "Write notify or restart."),
        ("stall_restarts_per_hour", -1, "Write 0 or more."),
    ],
)
def test_what_makes_none_is_refused_at_its_field(field: str, value: Any, says: str) -> None:
    with pytest.raises(SpecError) as refused:
        check_spec(spec(**{field: value}))
    assert refused.value.where == field
    assert says in str(refused.value)
