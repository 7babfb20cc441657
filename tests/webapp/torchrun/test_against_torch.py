"""What torch's own parser takes is read here as torch reads it; torch's parser is the truth."""

from __future__ import annotations

import shlex
from argparse import Namespace
from contextlib import redirect_stderr
from io import StringIO
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch.distributed.launch import parse_args as parse_old
from torch.distributed.run import get_args_parser, parse_args

from agents.wire.torchrun import REFUSED
from webapp.torchrun.expansion import Variables
from webapp.torchrun.flags import ALL, LAUNCH_SWITCHES, REFUSED_SWITCHES, SHORT, SWITCHES, read_flags
from webapp.torchrun.lexer import Lexer
from webapp.torchrun.words import letters_of


def actions() -> list[Any]:
    return [one for one in get_args_parser()._actions if one.option_strings and one.dest != "help"]


def test_each_flag_of_torch_is_known_and_no_other() -> None:
    assert sorted(ALL) == sorted(one.dest for one in actions())
    shorts = {o: one.dest for one in actions() for o in one.option_strings if not o.startswith("--")}
    assert shorts == SHORT
    assert {one.dest for one in actions() if one.nargs == 0} == {*SWITCHES, *REFUSED_SWITCHES}
    assert hasattr(parse_old(["x.py"]), LAUNCH_SWITCHES[0])  # type: ignore[no-untyped-call]


def torchs(words: list[str]) -> Namespace | None:
    """What torch makes of it; None where it refuses."""
    with redirect_stderr(StringIO()):
        try:
            read: Namespace = parse_args(words)  # type: ignore[no-untyped-call]
            return read
        except SystemExit:
            return None


def ours(words: list[str]) -> tuple[dict[str, str], str | None, list[str], list[str]]:
    """Flags as texts, script, arguments, and what is wrong."""
    (command,) = Lexer(letters_of(shlex.join(words)), Variables()).commands()
    flags = read_flags(command.words)
    said = {one.name: one.text for one in flags.given}
    script = flags.script.text if flags.script else None
    return said, script, [word.text for word in flags.args], [one.message for one in flags.problems]


NAMES = st.sampled_from([name for action in actions() for name in action.option_strings])
VALUES = st.sampled_from(
    ["1", "-1", "2:4", "a=1", "x y", "--tee", "-r", "train.py", "", "c10d", "0:3", "-", "spawn", "node"]
)
SPELLINGS = st.builds(
    lambda name, value, cut, how: {
        "apart": [name[: max(3, cut)] if name.startswith("--") else name, value],
        "joined": [f"{name}={value}"],
        "stuck": [f"{name}{value}"] if not name.startswith("--") else [name],
        "alone": [name],
    }[how],
    NAMES,
    VALUES,
    st.integers(3, 40),
    st.sampled_from(["apart", "joined", "stuck", "alone"]),
)
LINES = st.builds(
    lambda flags, script, args: [*(word for flag in flags for word in flag), *script, *args],
    st.lists(SPELLINGS, max_size=4),
    st.sampled_from([[], ["/srv/train.py"], ["pkg.train"], ["--", "/srv/train.py"]]),
    st.lists(st.sampled_from(["--lr", "1e-3", "--", "-m", "--nnodes=9", "x", ""]), max_size=4),
)


@settings(max_examples=150, deadline=None)
@given(LINES)
@example(["-m", "-1"])
@example(["-1.5", "--lr", "x"])
def test_a_line_that_torch_takes_means_the_same_here(words: list[str]) -> None:
    theirs = torchs(words)
    if theirs is None:
        return
    said, script, args, problems = ours(words)
    assert problems == []
    assert script == theirs.training_script
    assert args == list(theirs.training_script_args)
    for action in actions():
        value = getattr(theirs, action.dest)
        if action.dest in said:
            read = action.type or str
            assert value == (True if action.nargs == 0 else read(said[action.dest])), action.dest
        else:
            assert value == action.default, action.dest


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_job_cannot_have_is_a_flag_of_torch(name: str) -> None:
    assert name in ALL
