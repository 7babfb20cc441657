"""Every flag of the installed torchrun stands in docs/torchrun.md, and the spec has what the page says."""

from __future__ import annotations

import re
from argparse import Action
from dataclasses import fields
from pathlib import Path

import pytest
from torch.distributed.elastic.events.handlers import _log_handlers
from torch.distributed.elastic.multiprocessing import Std
from torch.distributed.run import get_args_parser
from torch.numa.binding import AffinityMode

from agents.cli.line import BARE, BARE_SHORT, OWN
from agents.wire.spec import JobSpec, SpecError, check_spec
from agents.wire.torchrun import REFUSED, RULES

PAGE = Path(__file__).parents[2] / "docs" / "torchrun.md"
ROW = re.compile(r"^\| `(?P<flags>[^|]+)` \| (?P<default>[^|]*) \| (?P<says>.*) \|$", re.M)
POSITIONAL = {"training_script": "script", "training_script_args": "args"}
OTHER_DEFAULTS = {
    "rdzv_backend": "torchrun takes c10d where neither endpoint nor port is given",
    "nnodes": "1 and 1:1 are the same",
    "nproc_per_node": "torchrun reads a text",
    "rdzv_conf": "an object instead of a text",
    "module": "the module's name instead of a switch",
    "shutdown_timeout": "torchrun's None is its variable, or 30",
}


def flags() -> list[Action]:
    return [action for action in get_args_parser()._actions if action.dest != "help"]


def rows() -> dict[str, str]:
    """What the page says in the first table, by the first name of the flag."""
    table = PAGE.read_text().split("## Other settings")[0]
    return {row["flags"].split("`")[0]: row["says"] for row in ROW.finditer(table)}


def name_on_page(action: Action) -> str:
    return next((one for one in action.option_strings if one.startswith("--")), action.dest)


def test_the_page_has_each_flag_once_and_no_other() -> None:
    assert sorted(rows()) == sorted(name_on_page(action) for action in flags())


@pytest.mark.parametrize("action", flags(), ids=lambda action: action.dest)
def test_a_flag_is_a_field_of_the_spec_or_refused_with_the_reason(action: Action) -> None:
    says, names = rows()[name_on_page(action)], {field.name for field in fields(JobSpec)}
    if action.dest in REFUSED:
        assert action.dest not in names
        assert says == f"refused: {REFUSED[action.dest]}"
    else:
        name = POSITIONAL.get(action.dest, action.dest)
        assert name in names
        assert f"`{name}`" in says


def test_defaults_are_those_of_torchrun_but_for_the_named_ones() -> None:
    ours, kept = JobSpec(), [action for action in flags() if action.option_strings]
    for action in kept:
        if action.dest not in REFUSED and action.dest not in OTHER_DEFAULTS:
            value = getattr(ours, action.dest)
            assert (list(value) if isinstance(value, tuple) else value) == action.default, action.dest


@pytest.mark.parametrize("text", ["0", "3", "4", "0:3,1:1", "0:3,", "3,1", "10:1", "", "0:3,1:0,2:1", "x"])
def test_what_redirects_may_say_is_what_torch_reads(text: str) -> None:
    try:
        Std.from_str(text)
    except ValueError:
        assert not RULES["redirects"].allows(text)
    else:
        assert RULES["redirects"].allows(text)


def test_choices_are_those_of_torch() -> None:
    methods = next(action.choices for action in flags() if action.dest == "start_method")
    choices = {
        "start_method": methods,
        "numa_binding": [mode.value for mode in AffinityMode],
        "event_log_handler": list(_log_handlers),
    }
    for name, words in choices.items():
        assert words
        assert all(RULES[name].allows(word) for word in words)
        assert not RULES[name].allows("other")


@pytest.mark.parametrize("changes", [{"no_python": True}, {"numa_binding": "node"}])
def test_what_cannot_be_forked_asks_for_exec(changes: dict[str, object]) -> None:
    check_spec(JobSpec(script="/srv/train", start="exec", **changes))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"Write start: exec\.") as caught:
        check_spec(JobSpec(script="/srv/train", **changes))  # type: ignore[arg-type]
    assert caught.value.where == "start"


def test_the_command_line_knows_which_flags_no_value_follows() -> None:
    switches = {name for flag in flags() if flag.nargs == 0 for name in flag.option_strings}
    assert {name for name in switches if "_" not in name} == {*BARE, *BARE_SHORT}


def test_no_flag_of_the_command_line_hides_one_of_torchruns() -> None:
    names = [name for flag in flags() for name in flag.option_strings]
    assert [own for own in OWN for name in names if name.startswith(own)] == []
