"""What an operator may give at the start, and the one sentence for what cannot be used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agents.node import cli
from agents.node.config import ConfigError, read_config
from agents.node.daemon import count_slots
from agents.node.probes import gpus
from agents.wire.events import Gpu

GPU = Gpu(index=0, name="made up", memory_bytes=1, uuid="GPU-0")
GOOD = ["--redis-url", "redis://h:1", "--name", "n", "--data", "/tmp/d", "--slots", "2"]


def test_every_flag_may_come_from_the_environment() -> None:
    config = read_config(
        [],
        {
            "REGROUP_REDIS_URL": "redis://h:1",
            "REGROUP_NODE_NAME": "node-a",
            "REGROUP_DATA": "/tmp/d",
            "REGROUP_SLOTS": "4",
            "REGROUP_ADDRESS": "10.0.0.1",
        },
    )
    assert (config.name, config.slots, config.address) == ("node-a", 4, "10.0.0.1")
    assert (config.data, config.python) == (Path("/tmp/d"), sys.executable)


def test_a_flag_wins_over_the_environment() -> None:
    assert read_config(GOOD, {"REGROUP_SLOTS": "9", "REGROUP_NODE_NAME": "other"}).slots == 2


def test_the_redis_url_may_come_from_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("redis://:word@h:1\n")
    config = read_config(GOOD[2:], {"REGROUP_REDIS_URL_FILE": str(secret)})
    assert config.redis_url == "redis://:word@h:1"


def without_slots() -> list[str]:
    return GOOD[:-2]


def test_slots_are_the_gpus_or_where_there_are_none_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    config = read_config(without_slots(), {})
    monkeypatch.setattr(gpus, "find_gpus", lambda: ((GPU, GPU, GPU), "none"))
    assert count_slots(config) == 3
    monkeypatch.setattr(gpus, "find_gpus", lambda: ((), "none"))
    assert count_slots(config) == len(os.sched_getaffinity(0))
    assert count_slots(read_config(GOOD, {})) == 2


def test_one_slot_for_each_gpu_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    config = read_config([*GOOD, "--slots", "gpus"], {})
    monkeypatch.setattr(gpus, "find_gpus", lambda: ((GPU, GPU), "none"))
    assert count_slots(config) == 2
    monkeypatch.setattr(gpus, "find_gpus", lambda: ((), "none"))
    with pytest.raises(ConfigError, match="the GPUs of this machine are: none"):
        count_slots(config)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (GOOD[2:], "No Redis is named."),
        ([*GOOD, "--redis-url", "http://h"], "redis://HOST:PORT/0"),
        ([*GOOD, "--name", "a/b"], "--name is 'a/b'."),
        ([*GOOD, "--slots", "0"], "--slots is '0'."),
        ([*GOOD, "--gpu-share", "4/3"], "--gpu-share is '4/3'."),
        ([*GOOD, "--gpu-share", "2"], "such as 1/3."),
        ([*GOOD, "--slots", "many"], "--slots is 'many'."),
        ([*GOOD, "--python", "/x/python"], "--python is '/x/python'"),
        ([*GOOD, "--bogus"], "Unrecognized arguments: --bogus."),
        (["--redis-url", "redis://h", "--slots", "1"], "No data folder is named."),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.startswith("regroup-agent: ")
    assert said.count("\n") == 1


def test_other_systems_are_told_that_only_linux_will_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cli.main(GOOD) == 2
    assert "Linux only" in capsys.readouterr().err


def test_a_data_folder_that_cannot_be_made_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    assert cli.main([*GOOD, "--data", str(blocker / "data")]) == 2
    assert f"The data folder '{blocker}/data' cannot be used" in capsys.readouterr().err
