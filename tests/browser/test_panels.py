"""What each panel shows while its answer is awaited, and when the hub refuses it: words, and a way on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import log_in, open_window
from tests.system.jobs import launch_counting, stop, wait_job
from tests.system.stack import Stack
from tests.waiting import ms

SOON_MS = ms(20)
REFUSAL = {
    "what": "The database does not answer.",
    "where": "",
    "what_to_do": "Look whether it runs.",
    "reason": "database_away",
    "faults": [],
}


@dataclass(frozen=True)
class Panel:
    address: str
    """Of the page; ``{id}`` is the job's number."""
    asks: str
    """What the page asks the hub for, as a regular expression."""
    awaits: str
    """What it says meanwhile."""
    tried: str
    """How its refusal begins."""
    is_there: Callable[[Page], None]
    """Waits until the answer is shown."""


def _text(words: str) -> Callable[[Page], None]:
    return lambda page: expect(page.get_by_text(words).first).to_be_visible(timeout=SOON_MS)


def _group(name: str) -> Callable[[Page], None]:
    return lambda page: expect(page.get_by_role("group", name=name)).to_be_visible(timeout=SOON_MS)


PANELS = {
    "the jobs": Panel(
        "/jobs", r"/api/jobs(\?|$)", "for the jobs …", "The list of jobs was asked for.", _text("counting")
    ),
    "the nodes": Panel(
        "/nodes", r"/api/nodes$", "for the nodes …", "The list of nodes was asked for.", _text("node-1")
    ),
    "a job": Panel(
        "/jobs/{id}", r"/api/jobs/{id}$", "for job {id} …", "Job {id} was asked for.", _text("counting")
    ),
    "the timeline": Panel(
        "/jobs/{id}",
        r"/api/jobs/{id}/timeline$",
        "for the timeline …",
        "The timeline was asked for.",
        _group("Timeline picture"),
    ),
    "the curve": Panel(
        "/jobs/{id}?curve=loss",
        r"/api/jobs/{id}/progress",
        "Asking the hub how loss went …",
        "It was asked how loss went.",
        lambda page: expect(page.get_by_role("img", name="loss between")).to_be_visible(timeout=SOON_MS),
    ),
    "the events": Panel(
        "/jobs/{id}?tab=events",
        r"/api/jobs/{id}/events",
        "for the events …",
        "The events were asked for.",
        _text("Round 1"),
    ),
}


class Hub:
    """Between the page and the hub: holds what is asked for, until it refuses that and all that follows."""

    def __init__(self) -> None:
        self._held: list[Route] = []
        self._refuses = False

    def take(self, route: Route) -> None:
        if self._refuses:
            route.fulfill(status=503, json=REFUSAL)
        else:
            self._held.append(route)

    def refuse(self) -> None:
        self._refuses = True
        while self._held:
            self._held.pop().fulfill(status=503, json=REFUSAL)


@pytest.fixture(scope="module")
def training(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    job_id = launch_counting(api, tmp_path_factory.mktemp("checkpoints"), steps=1_000_000)
    wait_job(api, job_id, "the job to train", 90, state="training")
    yield job_id
    stop(api, job_id)


@pytest.fixture(scope="module")
def window(chromium: Browser, stack: Stack) -> Iterator[Page]:
    """One for all, logged in once, that hears nothing live: what is asked for is all that comes."""
    context = open_window(chromium, stack.url)
    opened = context.new_page()
    log_in(opened, stack)
    opened.route_web_socket("**/ws/live", lambda socket: None)
    yield opened
    context.close()


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS)
def test_a_panel_says_what_it_waits_for_what_was_refused_and_asks_again(
    window: Page, training: int, panel: Panel
) -> None:
    page, hub = window, Hub()
    page.route(re.compile(panel.asks.replace("{id}", str(training))), hub.take)
    page.goto(panel.address.format(id=training))
    expect(page.get_by_text(panel.awaits.format(id=training))).to_be_visible(timeout=SOON_MS)

    hub.refuse()
    refusal = page.get_by_role("alert").filter(has_text=panel.tried.format(id=training))
    expect(refusal).to_contain_text("The database does not answer. Look whether it runs.", timeout=SOON_MS)

    page.unroute_all()
    refusal.get_by_role("button", name="Try again").click()
    panel.is_there(page)
    expect(refusal).to_have_count(0)
