"""What looks secret in a job's environment reaches its workers, and nobody who looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import psutil
import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.system.answers import questions, text_of
from tests.system.jobs import job, kill, launch_counting, stop, wait_command, wait_job
from tests.system.stack import Stack
from tests.waiting import ms
from webapp.masking import MASK

WORD = "s3cr3t-4711"
SECRETS = {
    "API_TOKEN": f"{WORD}-token",
    "WANDB_API_KEY": f"{WORD}-key",
    "DATABASE_URL": f"postgres://user:{WORD}@host/db",
}
SOON_MS = ms(15)


@pytest.fixture(scope="module")
def secret_job(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A job with secrets that has trained, lost a worker and come back."""
    job_id = launch_counting(
        api,
        tmp_path_factory.mktemp("secrets"),
        steps=1_000_000,
        nnodes="1",
        nodes=1,
        nproc_per_node=1,
        env={**SECRETS, "EPOCHS": "seen by all"},
    )
    seen = wait_job(api, job_id, "the job to train", 90, state="training")
    wait_command(api, kill(api, seen, 0).json()["id"])
    wait_job(api, job_id, "the next round", 90, state="training", round=2)
    yield job_id
    stop(api, job_id)


def test_no_answer_of_the_api_holds_a_secret(api: httpx.Client, secret_job: int) -> None:
    worker = psutil.Process(job(api, secret_job)["workers"][0]["pid"])
    assert {name: worker.environ()[name] for name in SECRETS} == SECRETS
    asked = questions(api, secret_job, SECRETS)
    assert len(asked) > 12
    answers = {path: api.get(path) for path in asked}
    assert {path: a.status_code for path, a in answers.items() if a.status_code != 200} == {}
    assert [path for path, answer in answers.items() if WORD in text_of(answer)] == []
    env = answers[f"/api/jobs/{secret_job}"].json()["spec"]["env"]
    assert env == {
        "API_TOKEN": MASK,
        "WANDB_API_KEY": MASK,
        "DATABASE_URL": f"postgres://user:{MASK}@host/db",
        "EPOCHS": "seen by all",
    }


def test_a_refusal_does_not_repeat_a_secret(api: httpx.Client) -> None:
    for wrong in (
        {"env": SECRETS, "nproc_per_node": 0},
        {"env": SECRETS, "nnodes": "3:2"},
        {"env": {"API_TOKEN": [WORD]}},
    ):
        answer = api.post("/api/jobs", json={"script": "/nowhere.py", **wrong})
        assert answer.status_code == 422
        assert WORD not in answer.text


def test_no_page_and_no_live_frame_holds_a_secret(operator_page: Page, secret_job: int) -> None:
    page = operator_page
    frames: list[Any] = []
    page.on("websocket", lambda socket: _keep_frames(socket, frames))
    pages: dict[str, str | re.Pattern[str]] = {
        f"/jobs/{secret_job}?tab=spec": "postgres://user:••••••@host/db",
        f"/jobs/{secret_job}?tab=events": re.compile("formed"),
        f"/jobs/{secret_job}?tab=logs": re.compile("step"),
        f"/jobs/{secret_job}?tab=nodes": re.compile("node-"),
        "/jobs": "counting",
        "/nodes": "node-1",
    }
    for path, shown in pages.items():
        page.goto(path)
        expect(page.locator("#content").get_by_text(shown).first).to_be_visible(timeout=SOON_MS)
        expect(page.get_by_text("live").first).to_be_visible(timeout=SOON_MS)
        assert WORD not in page.content()
    told = [frame for frame in frames if f'"topic": "job:{secret_job}"' in frame and "EPOCHS" in frame]
    assert told
    assert [frame for frame in frames if WORD in frame] == []


def _keep_frames(socket: WebSocket, frames: list[Any]) -> None:
    socket.on("framereceived", lambda frame: frames.append(str(frame)))


def test_no_log_of_the_hub_holds_a_secret(stack: Stack, secret_job: int) -> None:
    logs = [log for log in (stack.data / "logs").iterdir() if log.stat().st_size]
    assert logs
    assert [str(log) for log in logs if WORD in log.read_text(errors="replace")] == []
