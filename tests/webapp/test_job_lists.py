"""Lists of jobs: filtered, searched, in pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node, make_running_job
from webapp.accounts.models import Account


def names(api: Api, query: str = "") -> list[str]:
    answer = api.get(f"/api/jobs{query}")
    assert answer.status == 200, answer.body
    return [job["name"] for job in answer.body["items"]]


@pytest.fixture
def jobs(anna: Account, vera: Account) -> None:
    make_node("node-1")
    make_job(anna, "alpha")
    make_job(vera, "beta", state="failed")
    make_running_job(anna, ["node-1"], name="gamma")
    make_job(anna, "alphabet", state="succeeded")


def test_the_newest_comes_first(operator: Api, jobs: None) -> None:
    assert names(operator) == ["alphabet", "gamma", "beta", "alpha"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?state=failed", ["beta"]),
        ("?state=failed&state=queued", ["beta", "alpha"]),
        ("?state=failed,queued", ["beta", "alpha"]),
        ("?q=ALPHA", ["alphabet", "alpha"]),
        ("?node=node-1", ["gamma"]),
        ("?node=node-9", []),
        ("?mine=true&q=a", ["alphabet", "gamma", "alpha"]),
    ],
)
def test_filters_narrow_the_list(operator: Api, jobs: None, query: str, expected: list[str]) -> None:
    assert names(operator, query) == expected


def test_a_cursor_leads_through_all_pages(operator: Api, jobs: None) -> None:
    first = operator.get("/api/jobs?limit=3").body
    assert len(first["items"]) == 3
    second = operator.get(f"/api/jobs?limit=3&cursor={first['next']}").body
    assert ([job["name"] for job in second["items"]], second["next"]) == (["alpha"], None)


def test_the_example_is_filled_in_where_its_script_is(
    operator: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "EXAMPLES_DIR", tmp_path)
    assert operator.get("/api/example").body is None
    (tmp_path / "char_lm.py").touch()
    example = operator.get("/api/example").body
    assert example["script"] == str(tmp_path / "char_lm.py")
    assert example["nnodes"] == "1:3"
    assert operator.post("/api/jobs", example).status == 201
