"""The live socket: first everything, then what differs, numbered; for accounts, as long as they are open."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from django.conf import settings
from django.test import Client

from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node, make_running_job
from tests.webapp.journals import NodeJournal, RunnerJournal, entries
from webapp.accounts.models import Account, ApiToken
from webapp.accounts.tokens import make_token
from webapp.asgi import application
from webapp.ingest.batch import take_batch
from webapp.jobs.models import Job
from webapp.live.notify import job_changed, nodes_changed

pytestmark = pytest.mark.django_db(transaction=True)

Json = dict[str, Any]


class Page:
    """A browser's end of the socket."""

    def __init__(self, **headers: str) -> None:
        sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "websocket", "path": "/ws/live", "query_string": b"", "headers": sent}
        self.socket = cast(Any, ApplicationCommunicator)(application, scope)

    async def open(self) -> Json:
        """What the server answers to the wish to connect."""
        await self.socket.send_input({"type": "websocket.connect"})
        return await self.output()

    async def output(self) -> Json:
        output: Json = await self.socket.receive_output(timeout=10)
        return output

    async def send(self, text: str) -> None:
        await self.socket.send_input({"type": "websocket.receive", "text": text})

    async def say(self, kind: str, topic: str) -> None:
        await self.send(json.dumps({"type": kind, "topic": topic}))

    async def frame(self, *kinds: str) -> Json:
        """The next frame of one of these kinds; others are passed over."""
        while True:
            frame: Json = json.loads((await self.output())["text"])
            if frame["type"] in kinds:
                return frame

    async def closed(self) -> int:
        """The code it is closed with, after whatever frames are on their way."""
        while True:
            output = await self.output()
            if output["type"] == "websocket.close":
                return int(output["code"])


@asynccontextmanager
async def opened(user: Account) -> AsyncIterator[Page]:
    token = await database_sync_to_async(make_token)(user)
    async with connected(Page(authorization=f"Bearer {token}")) as page:
        yield page


@asynccontextmanager
async def connected(page: Page) -> AsyncIterator[Page]:
    assert (await page.open())["type"] == "websocket.accept"
    yield page
    await page.socket.send_input({"type": "websocket.disconnect", "code": 1000})
    await page.socket.wait(timeout=10)


def browser_of(account: Account) -> Client:
    browser = Client()
    browser.force_login(account)
    return browser


def page_of(browser: Client) -> Page:
    """A tab of that browser on the hub's own page."""
    cookie = f"regroup_session={browser.cookies['regroup_session'].value}"
    return Page(cookie=cookie, host="localhost:8000", origin="http://localhost:8000")


async def test_who_is_not_logged_in_is_turned_away(db: None) -> None:
    page = Page(host="localhost:8000", origin="http://localhost:8000")
    await page.open()
    assert await page.closed() == 4401


def close_account(account: Account) -> None:
    Account.objects.filter(pk=account.pk).update(is_active=False)


def set_password(account: Account) -> None:
    account.set_password("another long password")
    account.save()


@pytest.mark.parametrize("end", [close_account, set_password])
async def test_a_tab_is_closed_when_its_account_is_closed_or_gets_a_new_password(
    vera: Account, end: Callable[[Account], None]
) -> None:
    browser = await database_sync_to_async(browser_of)(vera)
    async with connected(page_of(browser)) as page:
        await page.frame("hello")
        await database_sync_to_async(end)(vera)
        assert await page.closed() == 4401


async def test_a_log_out_closes_every_tab_of_that_browser_and_no_other(vera: Account) -> None:
    browser, elsewhere = [await database_sync_to_async(browser_of)(vera) for _ in range(2)]
    async with (
        connected(page_of(browser)) as one,
        connected(page_of(browser)) as other,
        connected(page_of(elsewhere)) as third,
    ):
        await one.frame("hello")
        await database_sync_to_async(browser.delete)("/api/session")
        assert (await one.closed(), await other.closed()) == (4401, 4401)
        for _ in range(2):
            assert await third.frame("pulse")


async def test_a_token_that_is_taken_back_closes_its_socket(vera: Account) -> None:
    async with opened(vera) as page:
        await page.frame("hello")
        await database_sync_to_async(ApiToken.objects.filter(account=vera).delete)()
        assert await page.closed() == 4401


async def test_a_viewer_gets_the_answer_of_the_api_first(vera: Account, viewer: Api, anna: Account) -> None:
    def prepare() -> Job:
        make_node("node-1")
        return make_running_job(anna, ["node-1"])

    job = await database_sync_to_async(prepare)()
    async with opened(vera) as page:
        assert (await page.frame("hello"))["redis"] is True
        await page.say("subscribe", f"job:{job.id}")
        snapshot = await page.frame("snapshot")
        assert (snapshot["n"], snapshot["version"]) == (1, job.version)
        answer = await database_sync_to_async(viewer.get)(f"/api/jobs/{job.id}")
        # Ages and what grows with time are of the moment of the answer.
        told, wanted = (
            {key: value for key, value in facts.items() if key not in ("members", "goodput")}
            for facts in (snapshot["data"], answer.body)
        )
        assert told == wanted


async def test_the_greeting_names_the_files_of_the_page_that_is_served(
    vera: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "FRONTEND", tmp_path)
    async with opened(vera) as page:
        assert (await page.frame("hello"))["build"] is None
    (tmp_path / "index.html").write_text(
        '<script src="/assets/index-B.js"></script><link href="/assets/index-A.css">'
    )
    async with opened(vera) as page:
        assert (await page.frame("hello"))["build"] == "index-A.css index-B.js"


async def test_a_killed_worker_changes_only_what_it_changes(anna: Account) -> None:
    def prepare() -> tuple[Job, RunnerJournal]:
        make_node("node-1")
        job = make_running_job(anna, ["node-1"])
        job.attempts.get().members.update(folded={}, phase="launching")
        journal = RunnerJournal(job.attempts.get().id, "node-1", ["node-1"]).start().form().come_up()
        job.attempts.get().workers.all().delete()
        take_batch(entries(journal.progress(3).events))
        return job, journal

    job, journal = await database_sync_to_async(prepare)()
    async with opened(anna) as page:
        await page.say("subscribe", f"job:{job.id}")
        before = await page.frame("snapshot")
        assert before["data"]["state"] == "training"
        killed = journal.exit(1, "cause", "killed by SIGKILL", signal="SIGKILL").events[-1:]
        await database_sync_to_async(take_batch)(entries(killed))
        change = await page.frame("change")
        assert change["n"] == 2
        assert change["version"] > before["version"]
        assert [(w["rank"], w["state"]) for w in change["workers"]] == [(1, "cause")]
        assert change["set"]["workers_alive"] == 1
        assert "spec" not in change["set"]


async def test_a_resync_begins_again_with_everything(anna: Account) -> None:
    job = await database_sync_to_async(make_job)(anna)
    async with opened(anna) as page:
        await page.say("subscribe", f"job:{job.id}")
        await page.frame("snapshot")
        await page.say("resync", f"job:{job.id}")
        assert (await page.frame("snapshot"))["n"] == 1


async def test_the_lists_say_which_rows_are_new(anna: Account) -> None:
    async with opened(anna) as page:
        for topic in ("jobs", "nodes"):
            await page.say("subscribe", topic)
            assert (await page.frame("snapshot"))["data"]["items"] == []

        def appear() -> Job:
            take_batch(entries(NodeJournal("node-7").started(slots=4).events))
            job = make_job(anna)
            job_changed(job.id)
            nodes_changed()
            return job

        job = await database_sync_to_async(appear)()
        changes = [await page.frame("change"), await page.frame("change")]
        by_topic = {change["topic"]: change["items"] for change in changes}
        assert [item["id"] for item in by_topic["jobs"]] == [job.id]
        assert [(item["name"], item["slots"]) for item in by_topic["nodes"]] == [("node-7", 4)]


@pytest.mark.parametrize("topic", ["weather", "job:x", "job:999999"])
async def test_what_is_not_there_is_refused_with_a_sentence(anna: Account, topic: str) -> None:
    async with opened(anna) as page:
        await page.say("subscribe", topic)
        refused = await page.frame("refused")
        assert refused["topic"] == topic
        assert refused["what"].startswith("There is no")


async def test_nonsense_closes_nothing(anna: Account) -> None:
    async with opened(anna) as page:
        for text in ("{torn", "[]", '{"type": "subscribe", "topic": 7}'):
            await page.send(text)
            assert await page.frame("refused")
        await page.say("subscribe", "jobs")
        assert await page.frame("snapshot")


async def test_a_burst_of_changes_ends_with_the_newest_state(anna: Account) -> None:
    job = await database_sync_to_async(make_job)(anna)
    async with opened(anna) as page:
        await page.say("subscribe", f"job:{job.id}")
        await page.frame("snapshot")

        def burst() -> None:
            for turn in range(250):
                Job.objects.filter(pk=job.id).update(state_reason=f"turn {turn}", version=turn + 2)
                job_changed(job.id)

        await database_sync_to_async(burst)()
        frames = 0
        reason = ""
        while reason != "turn 249":
            change = await page.frame("change")
            reason = change["set"].get("state_reason", reason)
            frames += 1
        assert frames < 125


async def test_without_hints_the_pulse_brings_the_change(anna: Account) -> None:
    job = await database_sync_to_async(make_job)(anna)
    async with opened(anna) as page:
        await page.say("subscribe", f"job:{job.id}")
        await page.frame("snapshot")
        await database_sync_to_async(Job.objects.filter(pk=job.id).update)(state_reason="unsaid")
        changed = (await page.frame("change"))["set"]
        assert set(changed) == {"state_reason", "headline", "goodput"}
        assert changed["state_reason"] == changed["headline"]["sentence"] == "unsaid"


async def test_that_time_goes_by_is_no_change(anna: Account) -> None:
    job = await database_sync_to_async(make_job)(anna)
    async with opened(anna) as page:
        await page.say("subscribe", f"job:{job.id}")
        await page.frame("snapshot")
        await page.frame("pulse")
        assert (await page.frame("pulse", "change"))["type"] == "pulse"


@pytest.mark.usefixtures("no_redis")
async def test_without_redis_the_socket_stays_and_says_so(anna: Account) -> None:
    job = await database_sync_to_async(make_job)(anna)
    async with opened(anna) as page:
        assert (await page.frame("hello"))["redis"] is False
        await page.say("subscribe", f"job:{job.id}")
        assert (await page.frame("snapshot"))["data"]["id"] == job.id
        pulse = await page.frame("pulse")
        assert (pulse["redis"], pulse["ingest_age_s"]) == (False, None)
        assert "does not answer" in pulse["problem"]


async def test_a_redis_that_takes_nothing_more_is_named(anna: Account, bus: Any) -> None:
    bus.config_set("maxmemory", "1kb")
    try:
        async with opened(anna) as page:
            assert (await page.frame("hello"))["redis"] is False
            assert "Redis is full" in (await page.frame("pulse"))["problem"]
    finally:
        bus.config_set("maxmemory", "0")
