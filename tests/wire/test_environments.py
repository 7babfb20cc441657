"""How a job asks for an interpreter by name, and what is neither a name nor a path."""

from __future__ import annotations

import pytest

from agents.wire.environments import environment_of
from agents.wire.spec import JobSpec, SpecError, check_spec


@pytest.mark.parametrize(
    ("python", "name"),
    [
        (None, ""),
        ("python3.11", ""),
        ("/opt/vision/bin/python", ""),
        ("./a:b/python", ""),
        ("env:vision", "vision"),
        ("env:torch-2.13_cu130", "torch-2.13_cu130"),
    ],
)
def test_a_name_is_told_from_a_path(python: str | None, name: str) -> None:
    check_spec(JobSpec(script="/srv/train.py", python=python))
    assert environment_of(python) == name


@pytest.mark.parametrize("python", ["env:", "env:a/b", "env: vision", "env:-x", "ENV:vision", "conda:vision"])
def test_what_is_neither_is_refused_with_what_to_write(python: str) -> None:
    with pytest.raises(SpecError) as refused:
        check_spec(JobSpec(script="/srv/train.py", python=python))
    assert refused.value.where == "python"
    assert str(refused.value).startswith(f"python is {python!r}")
    assert "rite" in str(refused.value)
