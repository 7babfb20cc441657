"""What cannot run says so in a clear sentence, at the place where the person looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.system.jobs import EXAMPLES, job, launch, launch_counting, stop, wait_job
from tests.waiting import wait_until


def test_a_script_that_fails_at_import_shows_exception_file_and_line(
    operator: httpx.Client, tmp_path: Path
) -> None:
    script = tmp_path / "broken.py"
    script.write_text("import json\nimport no_such_module_here\n")
    job_id = launch(operator, script=str(script), nnodes="1", nproc_per_node=1)
    ended = wait_job(operator, job_id, "the job to fail", state="failed")
    assert "No module named 'no_such_module_here'" in ended["state_reason"]
    failure = ended["failure"]
    assert failure["exception"] == "ModuleNotFoundError"
    assert failure["file"].endswith("broken.py")
    assert failure["line"] == 2
    assert failure["read_from"] == "stderr"
    page = operator.get(f"/api/jobs/{job_id}/logs", params={"rank": 0, "stream": "stderr"}).json()
    assert any("no_such_module_here" in line["text"] for line in page["items"])


def test_a_missing_script_is_named_with_its_node(operator: httpx.Client, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.py"
    job_id = launch(operator, script=str(missing), nnodes="1", nproc_per_node=1)
    ended = wait_job(operator, job_id, "the job to fail", state="failed")
    assert str(missing) in ended["state_reason"]
    assert "node-" in ended["state_reason"]


def test_an_unknown_interpreter_is_named_with_its_node(operator: httpx.Client) -> None:
    job_id = launch(
        operator,
        script=str(EXAMPLES / "minimal.py"),
        nnodes="1",
        nproc_per_node=1,
        python="/opt/no/such/python",
    )
    ended = wait_job(operator, job_id, "the job to fail", state="failed")
    assert "/opt/no/such/python" in ended["state_reason"]
    assert "node-" in ended["state_reason"]


@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        ({"nnodes": "two"}, "nnodes", "MIN:MAX"),
        ({"nnodes": "3:2"}, "nnodes", "2:3"),
        ({"nnodes": "0"}, "nnodes", "1 or more"),
        ({"nnodes": "1:2", "nodes": 3}, "nodes", "1 to 2"),
        ({"max_restarts": -1}, "max_restarts", "0 or more"),
        ({"script": None}, "script", "script or a module"),
        ({"nproc_per_node": 0}, "nproc_per_node", "At least one"),
    ],
)
def test_a_wrong_field_is_refused_at_its_place(
    operator: httpx.Client, wrong: dict[str, Any], field: str, says: str
) -> None:
    spec = {"script": "/x/train.py", "nnodes": "1"} | wrong
    answer = operator.post("/api/jobs", json=spec)
    assert answer.status_code == 422, answer.text
    fault = next(f for f in answer.json()["faults"] if f["where"] == field)
    assert says in fault["message"]


def test_a_full_fleet_keeps_the_job_queued_and_says_which_slots_are_missing(
    operator: httpx.Client, tmp_path: Path
) -> None:
    holder = launch_counting(operator, tmp_path, nnodes="3", nodes=3, nproc_per_node=2)
    wait_job(operator, holder, "the first job to train", state="training", world_size=6)
    waiting = launch(operator, script=str(EXAMPLES / "minimal.py"), nnodes="1", nproc_per_node=2)

    def says_why() -> str | None:
        now = job(operator, waiting)
        says = str(now["state_reason"])
        return says if now["state"] == "queued" and "node-1" in says else None

    assert "slots" in wait_until(says_why, 20, "the second job to say what it waits for")
    stop(operator, holder)
    wait_job(operator, waiting, "the queued job to start when slots are free", round=1)
    stop(operator, waiting)


def test_what_was_refused_is_still_there_with_who_and_when(operator: httpx.Client) -> None:
    job_id = launch(operator, script="/nowhere/x.py", nnodes="1")
    ended = wait_job(operator, job_id, "the job to fail", state="failed")
    assert ended["created_by"] == "olga"
    assert ended["ended_at"] is not None
    listed = operator.get("/api/jobs", params={"state": "failed"}).json()["items"]
    assert job_id in [row["id"] for row in listed]


def test_unknown_jobs_and_bodies_get_one_form_of_error(operator: httpx.Client) -> None:
    missing = operator.get("/api/jobs/999999")
    assert missing.status_code == 404
    assert {"what", "where", "what_to_do", "reason"} <= missing.json().keys()
    wrong = operator.post("/api/jobs", content=b"{not json", headers={"content-type": "application/json"})
    assert wrong.status_code in (400, 422)
    assert wrong.json()["what"]
