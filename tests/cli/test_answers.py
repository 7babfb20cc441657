"""How commands end: exit codes that scripts can use, sentences on stderr, one JSON document on stdout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.cli.main import main
from tests.cli.hub_server import TOKEN, HubServer

WRONG: list[tuple[int, Any, int, str]] = [
    (401, {"what": "No valid token.", "reason": "not_authenticated"}, 3, "No valid token."),
    (403, {"what": "Viewers look only.", "reason": "role"}, 3, "Viewers look only."),
    (404, {"what": "There is no job 7.", "reason": "not_found", "what_to_do": "Look."}, 4, "no job 7. Look."),
    (409, {"what": "It has ended.", "reason": "job_ended"}, 6, "It has ended."),
    (
        422,
        {"what": "a: wrong.", "reason": "invalid", "faults": [{}, {"where": "b", "message": "bad."}]},
        2,
        "b: bad.",
    ),
    (500, {"what": "A fault of its own.", "reason": "internal"}, 1, "A fault of its own."),
    (503, {"what": "The database is away.", "reason": "database_unavailable"}, 5, "The database is away."),
    (502, b"<html>bad gateway</html>", 5, "status 502"),
    (404, b"<html>nothing here</html>", 4, "not Regroup's API"),
    (200, b"<html>hello</html>", 1, "not Regroup's API"),
    (302, b"", 2, "has moved to https://elsewhere.example.org/"),
]


@pytest.mark.parametrize(("status", "body", "code", "said"), WRONG)
def test_each_refusal_has_its_exit_code_and_its_sentence(
    status: int, body: Any, code: int, said: str, hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.answers["GET /api/jobs/7"] = (status, body)
    assert main(["show", "7"]) == code
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""


def test_a_hub_that_does_not_listen_is_unreachable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "--url", "http://127.0.0.1:1", "--token", "x"]) == 5
    assert "http://127.0.0.1:1 does not answer" in capsys.readouterr().err


def test_json_is_one_document_and_nothing_else(hub: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "7", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out) == hub.job
    assert told.err == ""


def test_a_job_is_told_on_a_screenful(hub: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    hub.job |= {"step": 30, "total": 500, "name": "evil\x1b[2J"}
    assert main(["show", "7"]) == 0
    told = capsys.readouterr().out
    assert "It runs." in told
    assert "step       30 of 500" in told
    assert "0 failure, 0 membership; 3 of 3 left" in told
    assert "\x1b" not in told


def test_a_list_is_not_cut_where_nobody_looks_at_it(
    hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "a-very-long-name-" * 20
    hub.answers["GET /api/jobs"] = (200, {"items": [hub.job | {"name": name}], "next": None})
    assert main(["ls", "--state", "running", "--mine"]) == 0
    assert name in capsys.readouterr().out


def test_a_kill_aims_at_the_worker_that_was_seen_and_waits_for_evidence(
    hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = {"rank": 0, "local_rank": 0, "pid": 100, "round": 1, "node": "node-1"}
    hub.job["workers"] = [worker]
    command = {"id": "c1", "is_final": True, "state": "refused", "reason": "Rank 0 has already ended."}
    hub.answers["POST /api/jobs/7/faults"] = (202, {"id": "c1", "is_final": False})
    hub.answers["GET /api/commands/c1"] = (200, command)
    assert main(["kill", "7", "0", "--reason", "to see it come back"]) == 6
    assert "Rank 0 has already ended." in capsys.readouterr().err
    asked = next(body for method, _, body in hub.asked if method == "POST")
    assert asked["if"] == {"round": 1, "pid": 100, "attempt": "a1"}
    assert (asked["rank"], asked["signal"], asked["reason"]) == (0, "SIGKILL", "to see it come back")
    hub.answers["GET /api/commands/c1"] = (200, command | {"state": "done", "reason": "Rank 0 is gone."})
    assert main(["kill", "7", "0"]) == 0
    assert capsys.readouterr().out == "Rank 0 is gone.\n"


def test_scaling_is_done_when_the_round_is_formed(hub: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    hub.answers["POST /api/jobs/7/scale"] = (202, hub.job)
    assert main(["scale", "7", "2", "--timeout", "0.3"]) == 1
    assert "still waiting for job 7 tiny on 2 nodes" in capsys.readouterr().err
    hub.job["nodes"] = hub.job["nodes"] | {"formed": 2}
    assert main(["scale", "7", "2"]) == 0
    assert "Job 7 tiny runs on 2 nodes." in capsys.readouterr().out


def test_login_tries_the_token_and_keeps_it(
    hub: HubServer, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("REGROUP_URL")
    monkeypatch.delenv("REGROUP_TOKEN")
    hub.answers["GET /api/session"] = (200, {"name": "anna", "role": "operator"})
    assert main(["login", hub.url, "--token", "a-bad-one"]) == 3
    assert main(["ls"]) == 2
    assert main(["login", hub.url, "--token", TOKEN]) == 0
    assert "as anna (operator)" in capsys.readouterr().out
    assert main(["show", "7"]) == 0
    assert (home / ".config/regroup/config.toml").stat().st_mode & 0o077 == 0


def test_tab_offers_jobs_and_is_silent_without_a_hub(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.answers["GET /api/jobs"] = (200, {"items": [hub.job, hub.job | {"id": 12}], "next": None})
    monkeypatch.setenv("_REGROUP_COMPLETE", "complete_zsh")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "regroup show 1")
    main([])
    told = capsys.readouterr().out
    assert '"12":"tiny (running)"' in told
    assert '"7"' not in told
    monkeypatch.setenv("REGROUP_URL", "http://127.0.0.1:1")
    main([])
    told_without = capsys.readouterr()
    assert "running" not in told_without.out
    assert told_without.err == ""


def offering(name: str, *environments: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "state": "online",
        "silent_s": 0.0,
        "slots": 8,
        "slots_free": 8,
        "jobs": [],
        "takes_no_jobs": "",
        "troubles": [],
        "facts": {"environments": list(environments)} if environments else {},
    }


def test_nodes_tell_which_interpreters_they_offer_where_one_does(
    hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    works, broken = {"name": "nightly", "trouble": ""}, {"name": "old", "trouble": "is gone"}
    hub.answers["GET /api/nodes"] = (
        200,
        {"items": [offering("node-1", works, broken), offering("node-2")], "next": None},
    )
    assert main(["nodes"]) == 0
    head, _, first, second = capsys.readouterr().out.splitlines()
    assert "environments" in head
    assert "env:nightly" in first
    assert "old" not in first
    assert second.split() == ["node-2", "online", "0/8", "–", "–", "–"]

    hub.answers["GET /api/nodes"] = (200, {"items": [offering("node-2")], "next": None})
    assert main(["nodes"]) == 0
    assert "environments" not in capsys.readouterr().out
