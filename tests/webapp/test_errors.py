"""Every refusal has one form: what, where, what to do, and a word for programs."""

from __future__ import annotations

import logging

import pytest
from django.db import OperationalError

from tests.webapp.api_client import Answer, Api
from webapp.jobs import api as jobs_api


def is_error(answer: Answer, status: int, reason: str) -> bool:
    assert {"what", "where", "what_to_do", "reason", "faults"} == set(answer.body)
    assert answer.body["what"].endswith(".")
    return (answer.status, answer.body["reason"]) == (status, reason)


def test_an_unknown_job_command_and_address(operator: Api) -> None:
    assert is_error(operator.get("/api/jobs/999"), 404, "not_found")
    assert is_error(operator.get("/api/jobs/99999999999999999999999"), 404, "not_found")
    assert is_error(operator.get("/api/commands/none"), 404, "not_found")
    assert is_error(operator.get("/api/nowhere"), 404, "not_found")


def test_a_method_that_an_address_does_not_take(operator: Api) -> None:
    answer = operator.ask("PUT", "/api/jobs", {})
    assert is_error(answer, 405, "method_not_allowed")
    assert "POST" in answer.headers["Allow"]


def test_a_body_that_is_no_json(operator: Api) -> None:
    assert is_error(operator.post("/api/jobs", b"{not json"), 400, "unreadable")


def test_each_wrong_field_is_named(operator: Api) -> None:
    answer = operator.post("/api/jobs", {"script": "/x.py", "nproc_per_node": "two", "env": {"A": 1}})
    assert is_error(answer, 422, "invalid")
    assert [fault["where"] for fault in answer.body["faults"]] == ["nproc_per_node", "env.A"]
    assert all(fault["message"].endswith(".") for fault in answer.body["faults"])


def test_a_wrong_query_parameter_is_named(operator: Api) -> None:
    assert operator.get("/api/jobs?limit=0").body["where"] == "limit"
    assert operator.get("/api/jobs?cursor=x").body["where"] == "cursor"
    assert operator.get("/api/jobs?state=dancing").body["where"] == "state"


def test_a_spec_that_cannot_run_is_refused_at_its_field(operator: Api) -> None:
    answer = operator.post("/api/jobs", {"script": "/x.py", "nnodes": "3:2"})
    assert is_error(answer, 422, "invalid")
    assert answer.body["faults"] == [
        {"where": "nnodes", "message": answer.body["what"], "what_to_do": ""},
    ]
    assert "Write 2:3" in answer.body["what"]


def test_a_bug_is_logged_with_its_traceback_and_shown_without(
    operator: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(job_id: int) -> None:
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(jobs_api, "_job", broken)
    with caplog.at_level(logging.ERROR):
        answer = operator.get("/api/jobs/1")
    assert is_error(answer, 500, "internal")
    assert "secret detail" not in str(answer.body)
    assert "ZeroDivisionError: a secret detail" in caplog.text


def test_a_silent_database_is_said_so(operator: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(job_id: int) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(jobs_api, "_job", locked)
    answer = operator.get("/api/jobs/1")
    assert is_error(answer, 503, "database_unavailable")
    assert "Training goes on" in answer.body["what"]
