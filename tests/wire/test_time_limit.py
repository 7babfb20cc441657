"""How long a job may run, as people write it."""

from __future__ import annotations

import pytest

from agents.wire.spec import JobSpec, SpecError, check_spec
from agents.wire.time_limit import read_time_limit


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7200", 7200),
        ("0.5", 0.5),
        ("90s", 90),
        ("90m", 5400),
        ("90min", 5400),
        ("2h", 7200),
        ("1.5h", 5400),
        ("1d12h", 129600),
        (" 1d 12h ", 129600),
        ("02:00:00", 7200),
        ("100:00:30", 360030),
        ("1-02:00:00", 93600),
    ],
)
def test_what_people_write_is_read(text: str, seconds: float) -> None:
    assert read_time_limit(text) == seconds
    check_spec(JobSpec(script="/srv/train.py", time_limit=text))


@pytest.mark.parametrize(
    "text", ["", "0", "0h", "h", "-1", "30:00", "2h30", "soon", "400d", "02:60:00", "٣h"]
)
def test_what_cannot_be_read_or_may_mean_two_things_is_refused(text: str) -> None:
    with pytest.raises(SpecError) as refused:
        check_spec(JobSpec(script="/srv/train.py", time_limit=text))
    assert refused.value.where == "time_limit"
    assert "such as 2h" in str(refused.value)
