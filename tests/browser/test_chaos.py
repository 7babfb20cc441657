"""SIGKILL, again and again, to whatever the dice say, while jobs train, restart and end.

``REGROUP_TEST_CHAOS=40`` makes it longer, ``REGROUP_TEST_SEED`` throws other dice.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psutil
import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import log_in, open_window
from tests.system.evidence import (
    assert_commands_closed,
    assert_each_record_once,
    assert_nothing_left_of_jobs,
    on_disk,
    ports_of,
)
from tests.system.jobs import Json, kill, launch_counting
from tests.system.stack import Stack, run_stack
from tests.waiting import wait_until
from webapp.stack.leftovers import bundle_in

KILLS = int(os.environ.get("REGROUP_TEST_CHAOS", "5"))
SEED = int(os.environ.get("REGROUP_TEST_SEED", "1"))
PATIENCE_S = 60.0
FINAL = ("succeeded", "failed", "stopped", "lost")

SERVICES = ("web", "ingest", "worker", "valkey", "node-1", "node-2", "node-3", "supervisor")
JOB_PARTS = ("runner", "training worker")
BUTTON = "the Kill button"
STACK = "make run"

T = TypeVar("T")


def patiently(ask: Callable[[], T]) -> T:
    """Ask until the hub answers: it may be down at this moment."""

    def answered() -> tuple[T] | None:
        try:
            return (ask(),)
        except (httpx.HTTPError, AssertionError, KeyError):
            return None

    return wait_until(answered, PATIENCE_S, "the hub to answer")[0]


def get(api: httpx.Client, path: str) -> Json:
    def ask() -> Json:
        answer = api.get(path)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    return patiently(ask)


@dataclass
class Chaos:
    stack: Stack
    api: httpx.Client
    folder: Path
    dice: random.Random
    jobs: list[int] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    """What was hit, for whoever reads a failure."""

    # -- jobs --

    def keep_two_jobs(self) -> None:
        """One that trains on two nodes until it is stopped, and short ones that end by themselves."""
        alive = [job for job in self._list() if job["state"] not in FINAL]
        names = {job["name"].partition(" ")[0] for job in alive}
        if "long" not in names:
            self._launch("long", nodes=2, nproc_per_node=1, max_restarts=100)
        if "short" not in names:
            self._launch("short", nodes=1, nproc_per_node=2, max_restarts=100, steps=120)

    def _launch(self, kind: str, **spec: Any) -> None:
        """Exactly one, though the answer may be lost with the web process: looked for by its name."""
        name = f"{kind} {len(self.jobs) + 1}"

        def launch() -> int:
            found = [job["id"] for job in self._list() if job["name"] == name]
            if found:
                return int(found[0])
            return launch_counting(self.api, self.folder / name, name=name, collective=True, **spec)

        self.jobs.append(patiently(launch))

    def _list(self) -> list[Json]:
        items: list[Json] = get(self.api, "/api/jobs")["items"]
        return items

    def wait_training(self) -> None:
        wait_until(
            lambda: any(job["state"] == "training" for job in self._list()), PATIENCE_S, "a job to train"
        )

    # -- kills --

    def strike(self) -> None:
        what = self.dice.choice([*SERVICES, *JOB_PARTS, *JOB_PARTS, BUTTON, STACK])
        self.done.append(what)
        if what == BUTTON:
            self._press_kill()
        elif what == STACK:
            assert self.stack.process is not None
            self.stack.process.send_signal(signal.SIGKILL)
            self.stack.process.wait()
            self.stack.start()
        elif what in JOB_PARTS:
            self._kill_part_of_job(what)
        else:
            self._kill_service(what)

    def _kill_service(self, name: str) -> None:
        victim = wait_until(lambda: self.stack.process_of(name), PATIENCE_S, f"{name} to run")
        victim.kill()

        def is_back() -> bool:
            found = self.stack.process_of(name)
            return found is not None and found.pid != victim.pid

        wait_until(is_back, PATIENCE_S, f"{name} to be started again")

    def _kill_part_of_job(self, what: str) -> None:
        """None may run at this moment; then the strike hits nobody."""
        found = [process for process in self.stack.processes() if _part(process) == what]
        if found:
            self.dice.choice(found).kill()

    def _press_kill(self) -> None:
        training = [job for job in self._list() if job["state"] == "training"]
        if not training:
            return
        seen = get(self.api, f"/api/jobs/{self.dice.choice(training)['id']}")
        running = [w["rank"] for w in seen["workers"] if w["state"] == "running"]
        if running:
            answer = patiently(lambda: kill(self.api, seen, self.dice.choice(running)))
            assert answer.status_code in (202, 409), answer.text

    # -- the end --

    def end(self) -> None:
        for job_id in self.jobs:
            patiently(lambda job_id=job_id: self._stop(job_id))  # type: ignore[misc]
        wait_until(
            lambda: all(job["state"] in FINAL for job in self._list()),
            2 * PATIENCE_S,
            "all jobs to have ended",
        )

    def _stop(self, job_id: int) -> None:
        status = self.api.post(f"/api/jobs/{job_id}/stop", json={"reason": "the night is over"}).status_code
        assert status in (200, 409)


def _part(process: psutil.Process) -> str | None:
    try:
        line = " ".join(process.cmdline())
        if not bundle_in(process.environ()):
            return None
    except psutil.Error:
        return None
    return "runner" if "boot.py" in line else "training worker" if "counting.py" in line else None


@pytest.fixture
def chaos(tmp_path: Path) -> Iterator[Chaos]:
    with run_stack(tmp_path) as stack, stack.client("olga", "operator") as api:
        yield Chaos(stack, api, tmp_path, random.Random(SEED))


def open_page(browser: Browser, stack: Stack) -> Page:
    page = open_window(browser, stack.url).new_page()
    log_in(page, stack)
    return page


def records_by_job(stack: Stack) -> dict[int, list[Json]]:
    """What the runners of each job have written, each journal ending with its last record."""
    found: dict[int, list[Json]] = {}
    for source, records in on_disk(stack).items():
        if source.startswith("run/"):
            assert records[-1][1]["kind"] == "runner_finished", f"{source} ends with {records[-1][1]}"
            job_id = int(source.split("/")[1].partition("-")[0].removeprefix("j"))
            found.setdefault(job_id, []).extend(record for _, record in records)
    return found


def state_by_journals(records: list[Json], was_stopped: bool) -> str:
    """What a job must be called after what its runners wrote, and what the operator wanted."""
    if have_all_finished(records):
        return "succeeded"
    if was_stopped:
        return "stopped"
    outcomes = {record["outcome"] for record in records if record["kind"] == "runner_finished"}
    return "failed" if outcomes & {"failed", "stopped"} else "lost"


def have_all_finished(records: list[Json]) -> bool:
    """Whether each rank of the newest round ended with 0."""
    formed = [record for record in records if record["kind"] == "rendezvous_completed"]
    if not formed:
        return False
    newest = max(formed, key=lambda record: int(record["round"]))
    exits = [record for record in records if record["kind"] == "worker_exited"]
    done = [exit for exit in exits if exit["round"] == newest["round"] and exit["role"] == "finished"]
    return len(done) == int(newest["world_size"])


def test_after_a_night_of_kills_everything_is_told_once_and_nothing_is_left(
    chaos: Chaos, chromium: Browser
) -> None:
    stack, api = chaos.stack, chaos.api
    page = open_page(chromium, stack)
    ports = ports_of(stack)
    for _ in range(KILLS):
        chaos.keep_two_jobs()
        chaos.wait_training()
        chaos.strike()
    chaos.end()

    assert_each_record_once(stack)
    assert_commands_closed(stack)
    assert_nothing_left_of_jobs(stack, api, ports_before=ports)
    listed = {job["id"]: job for job in get(api, "/api/jobs?limit=500")["items"]}
    assert sorted(listed) == sorted(set(chaos.jobs)), f"after {chaos.done}"
    written = records_by_job(stack)
    for job_id, job in listed.items():
        records = written.get(job_id, [])
        told = f"job {job_id} {job['name']}: {job['state_reason']} after {chaos.done}"
        assert len({record["attempt"] for record in records}) <= 1, f"launched twice: {told}"
        was_stopped = get(api, f"/api/jobs/{job_id}")["stopped_by"] is not None
        assert job["state"] == state_by_journals(records, was_stopped), told
    assert_page_equals_api(page, api, listed)


def assert_page_equals_api(page: Page, api: httpx.Client, listed: dict[int, Json]) -> None:
    """The page was open all the time; nobody has reloaded it."""

    def shown() -> dict[int, str]:
        rows = page.locator("tr[data-job]").evaluate_all(
            "rows => rows.map(r => [r.dataset.job, r.innerText])"
        )
        return {int(number): text for number, text in rows}

    def equals() -> bool:
        seen = shown()
        return set(seen) == set(listed) and all(job["state"] in seen[i] for i, job in listed.items())

    try:
        wait_until(equals, 20, "the page to equal the API")
    except AssertionError as error:
        raise AssertionError(f"{error}: {json.dumps(shown(), ensure_ascii=False)}") from None
    newest = max(listed)
    page.locator(f"tr[data-job='{newest}'] a").first.click()
    page.get_by_test_id("headline").wait_for()
    restarts = get(api, f"/api/jobs/{newest}")["restarts"]
    assert page.get_by_test_id("failure-restarts").inner_text() == str(restarts["failure"])
    assert listed[newest]["state"] in page.get_by_test_id("headline").inner_text()
