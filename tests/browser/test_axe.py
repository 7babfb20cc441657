"""axe finds nothing serious on any page, in the light theme and in the dark one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.axe import bring_axe, grave_faults
from tests.browser.conftest import PHONE, log_in, open_window
from tests.system.jobs import Json, launch_counting, stop, wait_job
from tests.system.stack import Stack
from tests.waiting import ms

SOON_MS = ms(15)
TABS = ("Logs", "Events", "Nodes", "Goodput", "Spec")
ACTS = {
    "Stop": "Stop counting",
    "Scale up to 3 nodes": "Scale to 3 nodes",
}
"""Buttons of a job's page, and the dialog that each opens."""


@pytest.fixture(scope="module")
def running_job(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("checkpoints")
    job_id = launch_counting(api, folder, steps=1_000_000)
    wait_job(api, job_id, "the job to train", 90, state="training")
    yield job_id
    stop(api, job_id)


@pytest.fixture(params=["light", "dark"])
def themed_page(request: pytest.FixtureRequest, chromium: Browser, stack: Stack) -> Iterator[Page]:
    context = open_window(chromium, stack.url)
    page = context.new_page()
    page.emulate_media(color_scheme=request.param)
    bring_axe(page)
    yield page
    context.close()


def _look_at_lists(page: Page) -> list[str]:
    """The pages beside a job's own."""
    found = []
    for path, name in {
        "/jobs": "counting",
        "/jobs?q=nothing-is-called-so": "No job matches.",
        "/nodes?node=node-1": "node-1",
        "/jobs/999999": "There is no job 999999.",
        "/nowhere": "There is no page at this address.",
    }.items():
        page.goto(path)
        expect(page.get_by_text(name).first).to_be_visible(timeout=SOON_MS)
        found += grave_faults(page, path)
    return found


def _look_at_launch(page: Page) -> list[str]:
    page.goto("/jobs/new")
    for summary in page.locator("summary").all():
        summary.click()
    page.get_by_label("nnodes").fill("3:2")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.get_by_label("nnodes")).to_have_attribute("aria-invalid", "true", timeout=SOON_MS)
    return grave_faults(page, "/jobs/new with a fault")


def _look_at_job(page: Page, job_id: int) -> list[str]:
    """Each tab, then what floats."""
    found = []
    page.goto(f"/jobs/{job_id}")
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SOON_MS)
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        found += grave_faults(page, f"the tab {tab}")
    page.get_by_role("button", name="Select rank 1").click()
    for opens, name in {"k": "Kill rank 1", "?": "Keys", "Control+k": "Command palette"}.items():
        page.keyboard.press(opens)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        found += grave_faults(page, f"the dialog {name}")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    found += _look_at_acts(page)
    page.get_by_role("button", name="Show as table").click()
    return [*found, *grave_faults(page, "the timeline as a table")]


def _look_at_acts(page: Page) -> list[str]:
    """The dialogs that stop or scale the job, which are left as they were opened."""
    found = []
    for button, name in ACTS.items():
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        found += grave_faults(page, f"the dialog {name}")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    return found


def _look_at_a_drain(page: Page) -> list[str]:
    page.goto("/nodes")
    page.get_by_role("button", name="Drain node-1").click()
    expect(page.get_by_role("dialog", name="Drain node-1").get_by_test_id("drain-forecast")).to_be_visible()
    return grave_faults(page, "the dialog that drains a node")


def _look_on_a_phone(page: Page, job_id: int) -> list[str]:
    found = []
    for path in ("/jobs", "/nodes", "/jobs/new"):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=SOON_MS)
        found += grave_faults(page, f"{path} on a phone")
    page.goto(f"/jobs/{job_id}")
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SOON_MS)
    page.get_by_role("tab", name="Timeline").click()
    found += grave_faults(page, "a job on a phone")
    page.get_by_role("button", name="Kill rank 1").click()
    expect(page.get_by_role("dialog", name="Kill rank 1")).to_be_visible()
    return [*found, *grave_faults(page, "the dialog Kill rank 1 on a phone")]


def test_axe_finds_nothing_serious_on_any_page(themed_page: Page, stack: Stack, running_job: int) -> None:
    page = themed_page
    page.goto("/")
    page.get_by_label("Name").wait_for()
    found = grave_faults(page, "the log-in")
    log_in(page, stack)
    found += _look_at_lists(page) + _look_at_launch(page) + _look_at_job(page, running_job)
    found += _look_at_a_drain(page)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    found += _look_on_a_phone(page, running_job)
    assert found == [], "\n\n".join(found)


def _as_many(api: httpx.Client, job_id: int, count: int) -> Json:
    """The hub's answer with one worker so many times: a job of that size does not fit on a test's machine."""
    answer: Json = api.get(f"/api/jobs/{job_id}").json()
    pattern = answer["workers"][0] | {"step": 100}
    answer["workers"] = [pattern | {"rank": rank, "pid": 5000 + rank} for rank in range(count)]
    return answer


def test_a_worker_is_found_among_hundreds_and_only_those_in_sight_are_in_the_page(
    operator_page: Page, running_job: int, api: httpx.Client
) -> None:
    page = operator_page
    answer = _as_many(api, running_job, 300)
    page.route(f"**/api/jobs/{running_job}", lambda route: route.fulfill(json=answer))
    page.route_web_socket("**/ws/live", lambda socket: None)
    page.goto(f"/jobs/{running_job}?workers=rows")
    workers = page.get_by_test_id("workers")
    expect(workers).to_have_attribute("aria-rowcount", "301")
    # What comes late above the list would push it out of sight again.
    expect(page.get_by_role("group", name=re.compile("^Timeline picture"))).to_be_visible(timeout=SOON_MS)
    expect(workers.get_by_role("button", name="Select rank 0", exact=True)).to_be_visible()
    assert workers.get_by_role("row").count() < 100

    workers.get_by_role("button", name="Select rank 0", exact=True).press("End")
    last = workers.get_by_role("button", name="Select rank 299")
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport()
    assert "rank=299" in page.url

    page.keyboard.press("/")
    page.keyboard.type("rank 217")
    expect(workers.get_by_role("button", name="Select rank 217")).to_be_visible()
    expect(workers).to_have_attribute("aria-rowcount", "2")
    expect(page.get_by_text("1 of 300 workers")).to_be_visible()


def _as_a_grid(api: httpx.Client, job_id: int) -> Json:
    """512 workers on 64 nodes, of which rank 20 is behind and rank 300 has failed."""
    answer = _as_many(api, job_id, 512)
    for worker in answer["workers"]:
        worker["node"] = f"node-{worker['rank'] // 8:03}"
    answer["workers"][20]["step"] = 90
    answer["workers"][300]["state"] = "cause"
    return answer


def _go_by_keys(page: Page, grid: Locator) -> None:
    told = page.get_by_test_id("told-worker")
    grid.press("Home")
    expect(told).to_contain_text("Rank 0 on node-000, pid 5000")
    for key in ("ArrowRight", "Space", "ArrowDown", "Space", "Enter"):
        page.keyboard.press(key)
    expect(told).not_to_contain_text("node-000")
    expect(page.get_by_role("status").filter(has_text="is selected")).to_be_attached()


def test_512_workers_are_a_grid_that_tells_by_keys_picks_for_faults_and_filters(
    operator_page: Page, running_job: int, api: httpx.Client
) -> None:
    page = operator_page
    bring_axe(page)
    answer = _as_a_grid(api, running_job)
    page.route(f"**/api/jobs/{running_job}", lambda route: route.fulfill(json=answer))
    page.route_web_socket("**/ws/live", lambda socket: None)
    page.goto(f"/jobs/{running_job}")
    grid = page.get_by_role("group", name=re.compile("^Workers as a grid"))
    expect(grid.get_by_role("img", name="512 workers on 64 nodes")).to_be_visible(timeout=SOON_MS)
    legend = page.get_by_role("list", name="What the cells show").get_by_role("listitem")
    expect(legend).to_have_text(["running 511", "failed 1"])
    _go_by_keys(page, grid)
    found = grave_faults(page, "the grid of workers")

    page.get_by_role("button", name="Fault on 2 workers").click()
    expect(page.get_by_role("dialog", name=re.compile("^Kill ranks 1 and "))).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Workers shown").select_option("only those behind")
    expect(page.get_by_text("1 of 512 workers")).to_be_visible()
    expect(grid.get_by_role("img", name="1 worker on 1 node")).to_be_visible()
    page.get_by_label("Workers as").get_by_text("rows").click()
    expect(page.get_by_test_id("workers")).to_have_attribute("aria-rowcount", "2")
    expect(page.get_by_role("button", name="Select rank 20")).to_be_visible()

    page.get_by_label("Workers as").get_by_text("grid").click()
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.get_by_label("Workers shown").select_option("all workers")
    expect(grid.get_by_role("img", name="512 workers on 64 nodes")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert found == [], "\n\n".join(found)
