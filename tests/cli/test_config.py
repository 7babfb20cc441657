"""Which hub and which token a command takes, and how a token is kept."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from agents.cli.config import Door, config_file, find_door, write_file
from agents.cli.refusals import Refusal

SAVED = Door("https://saved.example.org", "of-the-file")


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment in which somebody has logged in."""
    environment = {"HOME": str(tmp_path)}
    write_file(config_file(environment), SAVED)
    return environment


def test_what_login_saved_is_taken(shell: dict[str, str]) -> None:
    assert find_door(None, None, shell) == SAVED


def test_options_win_over_the_environment_and_that_over_the_file(shell: dict[str, str]) -> None:
    shell |= {"REGROUP_URL": "http://env.example.org/", "REGROUP_TOKEN": "of-the-environment"}
    assert find_door(None, None, shell) == Door("http://env.example.org", "of-the-environment")
    assert find_door("http://option:8000/api", "o", shell) == Door("http://option:8000", "o")


def test_a_saved_token_goes_to_no_other_hub(shell: dict[str, str]) -> None:
    with pytest.raises(Refusal, match=r"No token for https://other\.example\.org"):
        find_door("https://other.example.org", None, shell)


def test_only_its_owner_can_read_a_saved_token(shell: dict[str, str]) -> None:
    file = config_file(shell)
    file.chmod(0o644)
    write_file(file, Door("https://saved.example.org", 'with "quotes" and \\'))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert find_door(None, None, shell).token == 'with "quotes" and \\'
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_cannot_be_read_is_named(shell: dict[str, str]) -> None:
    config_file(shell).write_text("url = ")
    with pytest.raises(Refusal, match=r"config\.toml cannot be read"):
        find_door(None, None, shell)


@pytest.mark.parametrize("text", ["regroup.example.org", "ftp://x", "http://", "http://x:port"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="not the address of a hub"):
        find_door(text, "t", {"HOME": "/nowhere"})
