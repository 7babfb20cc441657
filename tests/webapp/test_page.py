"""What a browser gets: the page, its files, the API's own documentation, and nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis
from django.conf import settings
from django.test import Client

from tests.webapp.api_client import Api


def test_every_address_gives_the_page(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index.html").write_text("<!doctype html><title>Regroup</title>")
    monkeypatch.setattr(settings, "FRONTEND", tmp_path)
    for path in ("/", "/jobs/7", "/log-in"):
        answer = client.get(path)
        assert b"Regroup" in answer.content
        assert answer["Cache-Control"] == "no-cache"


def test_a_page_that_is_built_while_the_hub_runs_gets_its_files(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "index-NewerNew.js").write_text("console.log('newer')")
    (tmp_path / "secret.txt").write_text("not a file of the page")
    monkeypatch.setattr(settings, "FRONTEND", tmp_path)
    answer = client.get("/assets/index-NewerNew.js")
    assert b"".join(answer.streaming_content) == b"console.log('newer')"  # type: ignore[attr-defined]
    assert answer["Content-Type"].startswith("text/javascript")
    assert "immutable" in answer["Cache-Control"]
    for path in ("index-Older000.js", "..", "../secret.txt", "..%2Fsecret.txt", ""):
        assert client.get(f"/assets/{path}").status_code == 404


def test_a_page_that_was_not_built_says_what_to_run(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "FRONTEND", tmp_path)
    answer = client.get("/")
    assert answer.status_code == 503
    assert b"make run" in answer.content


def test_nothing_may_be_loaded_from_elsewhere(client: Client) -> None:
    answer = client.get("/jobs")
    policy = answer["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_the_documentation_of_the_api_uses_its_own_files(viewer: Api, client: Client) -> None:
    text = viewer.get("/api/docs").body.decode()
    assert "https://" not in text
    assert '/static/ninja/swagger-ui-bundle.js"' in text
    assert client.get("/static/ninja/swagger-ui-bundle.js").status_code == 200
    assert viewer.get("/api/openapi.json").body["info"]["title"] == "Regroup"


def test_health_is_one_word_for_strangers_and_a_sentence_for_people(
    client: Client, viewer: Api, bus: redis.Redis
) -> None:
    assert client.get("/healthz").content == b"ok\n"
    assert viewer.get("/api/health").body["redis"] == {"ok": True, "says": "Redis answers."}


def test_health_says_which_part_does_not_answer(client: Client, viewer: Api, no_redis: None) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (503, b"not ok\n")
    body = viewer.get("/api/health").body
    assert (body["ok"], body["database"]["ok"], body["redis"]["ok"]) == (False, True, False)
    assert "Redis does not answer" in body["redis"]["says"]


def test_an_unknown_host_name_is_told_what_to_set(client: Client) -> None:
    page = client.get("/", headers={"Host": "hub.example"})
    assert page.status_code == 400
    assert b"REGROUP_ALLOWED_HOSTS" in page.content
    answer = client.get("/api/jobs", headers={"Host": "hub.example"})
    assert "REGROUP_ALLOWED_HOSTS" in answer.json()["what_to_do"]
