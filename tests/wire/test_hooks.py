"""What a job may say of evidence and of its own commands."""

from __future__ import annotations

from typing import Any

import pytest

from agents.wire.masking import MASK, hide, secrets_in
from agents.wire.spec import JobSpec, SpecError, check_spec


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("evidence", "slow", "Write fast, full or off."),
        ("on_failure", (" ",), "Write commands as for a shell; an empty one does nothing."),
        ("on_end", ("ls\0",), "Write commands as for a shell; an empty one does nothing."),
        ("hook_timeout_s", 0.0, "Write the seconds that a command may take, above 0 and at most 86400."),
    ],
)
def test_nonsense_is_refused_with_what_to_write_instead(name: str, value: Any, advice: str) -> None:
    fields: dict[str, Any] = {"script": "/srv/train.py", name: value}
    with pytest.raises(SpecError) as refused:
        check_spec(JobSpec(**fields))
    assert refused.value.where == name
    assert str(refused.value).endswith(advice)


def test_commands_of_several_lines_are_fine() -> None:
    check_spec(
        JobSpec(script="/srv/train.py", on_failure=("set -e\nnvidia-smi -q", "dmesg"), evidence="full")
    )


def test_a_secret_is_hidden_wherever_it_turns_up() -> None:
    env = {
        "API_TOKEN": "abcdef-123",
        "DB_PASSWORD": "abcdef",
        "PIN_KEY": "12",
        "PWD": "/home/anna",
        "COLOUR": "blue",
    }
    secrets = secrets_in(env)
    assert secrets == ("abcdef-123", "abcdef")
    text = "abcdef-123 12 /home/anna blue redis://:pass@host"
    assert hide(text, secrets) == f"{MASK} 12 /home/anna blue redis://:{MASK}@host"
