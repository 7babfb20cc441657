"""An operator does harm on purpose: told what will happen, sees it happen, ends all of it with one button."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from agents import procs
from tests.browser.conftest import PHONE
from tests.system.jobs import job, launch_counting, stop, wait_job, worker
from tests.waiting import ms, wait_until

SLOW_MS = ms(60)
SOON_MS = ms(20)


@pytest.fixture(scope="module")
def training(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("checkpoints")
    job_id = launch_counting(api, folder, steps=1_000_000, nproc_per_node=2, max_restarts=5)
    wait_job(api, job_id, "the job to train", 90, state="training", world_size=4)
    wait_until(lambda: job(api, job_id)["checkpoint_step"], 60, "a checkpoint")
    yield job_id
    stop(api, job_id)


def _open(page: Page, job_id: int) -> None:
    page.goto(f"/jobs/{job_id}")
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SLOW_MS)


def test_a_kill_is_forecast_and_the_forecast_is_held_against_what_happened(
    operator_page: Page, training: int
) -> None:
    page = operator_page
    _open(page, training)
    page.get_by_role("button", name="Kill rank 3").click()
    dialog = page.get_by_role("dialog", name="Kill rank 3")
    forecast = dialog.get_by_test_id("fault-forecast")
    expect(forecast).to_contain_text("Same-node restart: world size 4 → 4", timeout=SOON_MS)
    expect(forecast).to_contain_text("redone since checkpoint")
    expect(forecast).to_contain_text("how long it takes is not known")
    expect(forecast).to_contain_text("Proves that a lost worker costs one restart")
    dialog.get_by_label("Reason").fill("to hold the forecast against it")
    dialog.get_by_role("button", name="Kill rank 3").click()
    progress = dialog.get_by_test_id("fault-progress")
    expect(progress).to_contain_text("is gone", timeout=SOON_MS)
    expect(progress).to_contain_text("round 2 is formed, world size 4", timeout=SLOW_MS)
    expect(progress.get_by_test_id("fault-outcome")).to_contain_text("back after", timeout=SLOW_MS)
    dialog.get_by_role("button", name="Close").last.click()

    # Aimed is at what the page shows, so that it has to show who runs now.
    expect(page.locator("dl").get_by_text("round 2", exact=True)).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Kill rank 1").click()
    expect(page.get_by_test_id("fault-forecast")).to_contain_text("as once before", timeout=SOON_MS)
    page.get_by_label("Fault", exact=True).select_option("freeze_worker")
    expect(page.get_by_test_id("fault-forecast")).to_contain_text(
        "Nothing restarts: rank 1 stands still for 30 s", timeout=SOON_MS
    )
    page.get_by_label("Seconds").fill("9000")
    expect(page.get_by_role("alert")).to_contain_text("Write a number from 1 to 600.", timeout=SOON_MS)
    page.keyboard.press("Escape")


def test_two_workers_are_frozen_and_one_button_lets_all_go_on(
    operator_page: Page, api: httpx.Client, training: int
) -> None:
    page = operator_page
    _open(page, training)
    seen = wait_job(api, training, "all ranks to train", 60, state="training", world_size=4)
    pids = [worker(seen, rank)["pid"] for rank in (0, 3)]
    page.get_by_label("Pick rank 0").check()
    page.get_by_label("Pick rank 3").check()
    expect(page).to_have_url(re.compile(r"picked=0(,|%2C)3"))
    page.get_by_role("button", name="Fault on 2 workers").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Fault", exact=True).select_option("freeze_worker")
    dialog.get_by_label("Seconds").fill("300")
    expect(dialog.get_by_test_id("fault-forecast")).to_contain_text(
        "each of ranks 0 and 3 stands still for 300 s", timeout=SOON_MS
    )
    dialog.get_by_role("button", name="Freeze ranks 0 and 3").click()
    frozen = dialog.locator("li").filter(has_text="seen to stand still")
    expect(frozen).to_have_attribute("data-reached", "true", timeout=SOON_MS)
    assert [procs.state_of(pid) for pid in pids] == ["T", "T"]
    dialog.get_by_role("button", name="Close").last.click()

    page.goto("/nodes")
    strip = page.get_by_test_id("running-faults")
    expect(strip).to_contain_text("2 faults by hand", timeout=SOON_MS)
    expect(strip).to_contain_text(f"job {training}: Rank 0 of round")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    strip.get_by_role("button", name="Stop all faults").click()
    expect(strip).to_have_count(0, timeout=SOON_MS)
    assert not [pid for pid in pids if procs.state_of(pid) == "T"]


def test_a_node_is_hit_from_its_row_and_its_agent_comes_back(
    operator_page: Page, api: httpx.Client, training: int
) -> None:
    page = operator_page
    _open(page, training)
    page.get_by_role("tab", name="Nodes").click()
    seen = job(api, training)
    node = next(m["node"] for m in seen["members"] if m["node"] != seen["store_host"])
    page.get_by_role("button", name=f"Fault on {node}").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("fault-forecast")).to_contain_text("Membership restart", timeout=SOON_MS)
    dialog.get_by_label("Fault", exact=True).select_option("kill_agent")
    expect(dialog.get_by_test_id("fault-forecast")).to_contain_text("Training goes on", timeout=SOON_MS)
    dialog.get_by_role("button", name=f"Kill the node agent on {node}").click()
    back = dialog.locator("li").filter(has_text="another node agent has taken over")
    expect(back).to_have_attribute("data-reached", "true", timeout=SLOW_MS)
    expect(dialog.get_by_test_id("fault-outcome")).to_contain_text("Nothing restarted meanwhile")
