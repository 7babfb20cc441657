"""What ``regroup run`` sends to the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.cli.main import main
from tests.cli.hub_server import HubServer


@pytest.fixture
def answers(hub: HubServer) -> HubServer:
    spec = {"script": "../t.py", "args": ["a b"], "nnodes": "2"}
    note = {"flag": "--master-port", "position": 0, "message": "Regroup picks a free port."}
    hub.answers["POST /api/torchrun/parse"] = (200, {"spec": spec, "problems": [], "stripped": [note]})
    hub.answers["POST /api/jobs"] = (201, hub.job)
    return hub


def sent(hub: HubServer, path: str) -> Any:
    return next(body for method, asked, body in hub.asked if (method, asked) == ("POST", path))


def test_the_line_goes_to_the_hub_as_it_was_typed(
    answers: HubServer, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("PET_NPROC_PER_NODE", "2")
    assert main(["run", "--detach", "--nnodes=2", "--master-port", "1", "../t.py", "a b", "$HOME"]) == 0
    assert sent(answers, "/api/torchrun/parse") == {
        "command": "PET_NPROC_PER_NODE=2 torchrun --nnodes=2 --master-port 1 ../t.py 'a b' '$HOME'",
        "workdir": str(home),
    }
    told = capsys.readouterr()
    assert told.out == "7\n"
    assert "--master-port: Regroup picks a free port." in told.err


def test_the_job_has_what_the_nodes_cannot_know_of_this_shell(
    answers: HubServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    words = [
        "--env",
        "LR=1",
        "--set",
        "spares=1",
        "--set",
        "rdzv_backend=c10d",
        "--name",
        "big",
        "--python",
        "/p",
    ]
    assert main(["run", "--detach", *words, "../t.py"]) == 0
    job = sent(answers, "/api/jobs")
    assert job["workdir"] == str(folder)
    assert job["script"] == str(home / "t.py")
    assert (job["env"]["NCCL_DEBUG"], job["env"]["LR"]) == ("INFO", "1")
    assert (job["spares"], job["rdzv_backend"], job["name"], job["python"]) == (1, "c10d", "big", "/p")


def test_a_variable_that_is_not_set_is_named(
    answers: HubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    assert main(["run", "--detach", "--env", "NOT_THERE", "t.py"]) == 2
    assert "--env NOT_THERE hands on a variable that is not set here" in capsys.readouterr().err


def test_whether_a_job_was_created_is_not_known_when_no_answer_comes(
    answers: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    answers.answers["POST /api/jobs"] = (503, {"what": "The database is away.", "reason": "x"})
    assert main(["run", "t.py"]) == 5
    assert "look with regroup ls --mine" in capsys.readouterr().err
