"""Interpreters that a node offers by name: how they are given, what is told of them, who starts in them."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.node import checks
from agents.node.config import ConfigError, read_config
from agents.node.outcome import Refused
from agents.node.probes.environments import find_environments, interpreter_for
from agents.wire.checks import CheckNode
from tests.agents.node_harness import Agent, Hub, Valkey, start_command

GOOD = ["--redis-url", "redis://h:1", "--name", "n", "--data", "/tmp/d", "--slots", "2"]


def a_program(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_they_are_given_by_flags_or_by_the_environment() -> None:
    flags = ["--environment", "a=/opt/a/bin/python", "--environment=b=/opt/b c/bin/python"]
    variable = {"REGROUP_ENVIRONMENTS": "c=/opt/c/bin/python  'd=/opt/d e/bin/python'"}
    assert read_config([*GOOD, *flags], variable).environments == {
        "a": "/opt/a/bin/python",
        "b": "/opt/b c/bin/python",
    }
    assert read_config(GOOD, variable).environments == {
        "c": "/opt/c/bin/python",
        "d": "/opt/d e/bin/python",
    }
    assert read_config(GOOD, {}).environments == {}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["vision"], "--environment is 'vision'. Write NAME=/path/to/python"),
        (["vision="], "Write NAME=/path/to/python"),
        (["vision=bin/python"], "Write NAME=/path/to/python"),
        (["a b=/opt/python"], "the name in letters, digits"),
        (["a=/x/python", "a=/y/python"], "names a twice, as /x/python and as /y/python. Keep one."),
    ],
)
def test_what_is_no_environment_is_refused(given: list[str], words: str) -> None:
    flags = [word for pair in given for word in ("--environment", pair)]
    with pytest.raises(ConfigError, match=words):
        read_config([*GOOD, *flags], {})


def test_versions_are_told_where_they_can_be_known_and_trouble_where_there_is_some(tmp_path: Path) -> None:
    found = find_environments(
        {
            "good": sys.executable,
            "gone": "/nowhere/bin/python",
            "broken": a_program(tmp_path / "broken", "echo no such library >&2; exit 3"),
            "odd": a_program(tmp_path / "odd", "echo hello"),
            "bare": a_program(tmp_path / "bare", """echo '["3.11.9", ""]'"""),
        }
    )
    told = {one.name: one for one in found}
    assert [one.name for one in found] == sorted(told)
    assert told["good"].python == ".".join(map(str, sys.version_info[:3]))
    assert (bool(told["good"].torch), told["good"].trouble) == (True, "")
    assert told["gone"].trouble == "does not work: /nowhere/bin/python is no executable file"
    assert "ended with status 3 and said 'no such library'" in told["broken"].trouble
    assert "does not answer as Python does" in told["odd"].trouble
    assert (told["bare"].python, told["bare"].torch, told["bare"].trouble) == ("3.11.9", "", "has no torch")


def test_a_name_stands_for_its_interpreter_and_a_path_for_itself() -> None:
    offered = {"vision": sys.executable}
    assert interpreter_for("env:vision", "/usual", offered, "node-a") == sys.executable
    assert interpreter_for("/opt/x/python", "/usual", offered, "node-a") == "/opt/x/python"
    assert interpreter_for(None, "/usual", offered, "node-a") == "/usual"


def test_what_is_not_offered_or_gone_is_refused_in_words() -> None:
    offered = {"vision": "/nowhere/python", "audio": sys.executable}
    with pytest.raises(Refused) as unknown:
        interpreter_for("env:video", "/usual", offered, "node-a")
    assert str(unknown.value) == (
        "node-a offers no environment video. It offers audio, vision. Start its node agent with "
        "--environment video=/path/to/python, or give another python."
    )
    with pytest.raises(Refused, match="The environment vision on node-a is gone: /nowhere/python is no"):
        interpreter_for("env:vision", "/usual", offered, "node-a")


def test_the_checks_before_a_launch_look_at_the_named_one(tmp_path: Path) -> None:
    def look(python: str) -> tuple[str, str, str]:
        request = CheckNode(id="1", run="r1", step="look", script=__file__, python=python, nodes=("node-a",))
        answer = checks.answer_check(request, tmp_path, "node-a", "/usual", {"vision": sys.executable})
        (finding,) = [one for one in answer.findings if one.check == "python"]
        return finding.verdict, finding.says, finding.what_to_do

    assert look("env:vision")[0] == "ok"
    verdict, says, what_to_do = look("env:video")
    assert (verdict, says) == ("fail", "node-a offers no environment video.")
    assert "--environment video=/path/to/python" in what_to_do


def test_a_node_tells_what_it_offers_and_starts_jobs_in_it(
    valkey: Valkey, start_agent: Callable[..., Agent]
) -> None:
    flags = ("--environment", f"vision={sys.executable}", "--environment", "gone=/nowhere/python")
    agent = start_agent(valkey, flags=flags)
    hub = Hub(valkey.redis, agent.name)
    told = {one["name"]: one for one in hub.wait_for("node_started")["facts"]["environments"]}
    assert (told["vision"]["path"], told["vision"]["trouble"]) == (sys.executable, "")
    assert told["gone"]["trouble"]
    refused = hub.carry_out(start_command(agent.name, python="env:gone"))
    assert refused["outcome"] == "refused"
    assert refused["reason"].startswith(f"The environment gone on {agent.name} is gone: /nowhere/python")
    started = hub.carry_out(start_command(agent.name, python="env:vision"))
    assert started["outcome"] == "done", started
    runs = Path(f"/proc/{started['evidence']['pid']}/exe").resolve()
    assert runs == Path(sys.executable).resolve()
