"""Following a job's output: every line once and in order, whatever happens in between."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agents.cli.main import main
from tests.cli.hub_server import SPEC, HubServer
from tests.waiting import wait_until


@contextmanager
def running(*words: str) -> Iterator[list[int]]:
    """The command in a thread of its own; its exit code is put into the list."""
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(list(words))))
    thread.start()
    yield codes
    thread.join(60)
    assert codes, "the command has not ended"


@pytest.fixture(autouse=True)
def no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads other than the main one cannot have handlers."""
    monkeypatch.setattr("agents.cli.interrupts._SIGNALS", ())


def seen(hub: HubServer, path: str) -> int:
    return sum(asked == path for _, asked, _ in hub.asked)


def launchable(hub: HubServer, **spec: Any) -> None:
    hub.answers["POST /api/torchrun/parse"] = (
        200,
        {"spec": {"script": "t.py"}, "problems": [], "stripped": []},
    )
    hub.answers["POST /api/jobs"] = (201, hub.job | {"spec": SPEC | spec})


def test_lines_of_two_rounds_come_once_and_in_order_though_the_hub_was_away(
    hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    launchable(hub)
    hub.is_paused = False
    hub.start_round(1)
    hub.write(1, 0, "stderr", "")
    hub.write(1, 0, "stdout", "".join(f"one {i}\n" for i in range(1200)) + "torn ")
    with running("run", "t.py") as codes:
        wait_until(lambda: seen(hub, "/api/jobs/7/logs") > 8, 20, "the first looks at the logs")
        hub.fails = 3
        hub.write(1, 0, "stdout", "and mended\n")
        wait_until(lambda: hub.fails == 0, 20, "the hub to be asked again")
        hub.end_worker(1)
        hub.write(2, 0, "stderr", "warning\n")
        hub.write(2, 0, "stdout", "two\nlast without end")
        hub.start_round(2)
        hub.end_worker(2)
        hub.is_paused = True
        hub.end("failed")
    told = capsys.readouterr()
    assert told.out == "".join(f"one {i}\n" for i in range(1200)) + "torn and mended\ntwo\nlast without end"
    lines = told.err.splitlines()
    assert "warning" in lines
    assert sum("Asking again" in line for line in lines) == 1
    assert sum("The hub answers again." in line for line in lines) == 1
    assert codes == [1]


def test_a_job_that_succeeds_ends_with_0_and_one_rank_can_be_chosen(
    hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    launchable(hub, tee="1")
    for rank in (0, 1):
        hub.write(1, rank, "stdout", f"I am {rank}\n")
        hub.write(1, rank, "stderr", "")
    hub.start_round(1, ranks=2)
    hub.end("succeeded")
    with running("run", "--ranks", "1", "--quiet", "t.py") as codes:
        pass
    assert codes == [0]
    assert capsys.readouterr() == ("[default1]:I am 1\n", "")


def test_what_could_not_be_read_is_said(
    hub: HubServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.cli.reading.PATIENCE_S", 0.0)
    launchable(hub)
    hub.write(1, 0, "stderr", "")
    hub.start_round(1)
    hub.end("succeeded")
    with running("run", "t.py") as codes:
        pass
    assert codes == [0]
    said = "The stdout of rank 0 in round 1 could not be read to its end: node-1 has no such file yet."
    assert said in capsys.readouterr().err


def test_programs_get_json_lines(hub: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    launchable(hub)
    hub.write(1, 0, "stderr", "")
    hub.write(1, 0, "stdout", "hello\n")
    hub.start_round(1)
    hub.end("failed", "Rank 0 ended with exit status 7.")
    with running("run", "--json", "--quiet", "t.py"):
        pass
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["kind"] for one in documents] == ["job", "state", "line", "end"]
    assert documents[2]["text"] == "hello"
    assert documents[3] == {
        "kind": "end",
        "state": "failed",
        "says": "Rank 0 ended with exit status 7.",
        "exit_code": 1,
    }


def test_logs_of_a_round_are_printed_rank_by_rank(hub: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    where = {"round": 1, "node": "node-1"}
    hub.job["workers"] = [{"rank": rank, "local_rank": rank, "pid": rank, **where} for rank in (1, 0)]
    for rank in (0, 1):
        hub.write(1, rank, "stdout", f"I am {rank}\n")
        hub.write(1, rank, "stderr", "")
    assert main(["logs", "7"]) == 0
    assert capsys.readouterr().out == "[0]: I am 0\n[1]: I am 1\n"
    assert main(["logs", "7", "--rank", "1", "--stream", "stdout"]) == 0
    assert capsys.readouterr().out == "I am 1\n"
    assert main(["logs", "7", "--rank", "5"]) == 4


def test_a_line_that_makes_no_job_is_refused_with_its_place(
    hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def parsed(method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        at = body["command"].index("--nodse")
        problem = {"flag": "--nodse", "position": at, "message": "torchrun has no flag --nodse."}
        return 200, {"spec": {}, "problems": [problem], "stripped": []}

    hub.answer = parsed  # type: ignore[method-assign]
    assert main(["run", "--nodse", "2", "t.py"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "regroup: torchrun has no flag --nodse."
    assert told[1][told[2].index("^") :].startswith("--nodse 2 t.py")


def test_a_hub_that_knows_no_torchrun_lines_says_so(
    hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.answers["POST /api/torchrun/parse"] = (404, b"not found")
    assert main(["run", "t.py"]) == 4
    assert "older than this regroup" in capsys.readouterr().err
