"""An operator launches a job in the browser, kills a worker with the button, and watches it come back."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.system.jobs import job, launch, stop, wait_job
from tests.waiting import ms

SLOW_MS = ms(60)
SOON_MS = ms(15)


def _launch_example(page: Page) -> int:
    page.goto("/jobs/new")
    page.get_by_label("nodes", exact=True).fill("2")
    expect(
        page.get_by_text("Runs on 1 to 3 nodes, 2 wanted now, with 2 workers each: 4 ranks; survives")
    ).to_be_visible()
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url(re.compile(r"/jobs/\d+"))
    return int(page.url.split("?")[0].rsplit("/", 1)[1])


def _wait_for_training(page: Page, round_number: int) -> None:
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SLOW_MS)
    expect(page.locator("dl").get_by_text(f"round {round_number}", exact=True)).to_be_visible(timeout=SLOW_MS)


def _read_the_cause(page: Page) -> None:
    """By keyboard: the newest round is selected in the timeline, and tells its cause and its consequences."""
    page.get_by_role("group", name=re.compile("^Timeline picture")).press("ArrowLeft")
    expect(page).to_have_url(re.compile("round=2"))
    card = page.get_by_role("region", name="Round 2")
    expect(card.get_by_test_id("cause")).to_contain_text("was killed by SIGKILL by operator")
    for told in ("a signal", "exit status", "yes, by a person", "3 ranks"):
        expect(card).to_contain_text(told)
    page.get_by_role("button", name="causes").press("Enter")
    expect(page.get_by_test_id("budget")).to_contain_text(
        "has spent 1 of 3. The next 2 failures are survived"
    )
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("budget")).to_be_hidden()


def _step(page: Page) -> int:
    """The step in the headline."""
    text = page.get_by_test_id("headline").inner_text()
    found = re.search(r"step ([\d,]+)", text)
    return int(found[1].replace(",", "")) if found else -1


def test_a_killed_worker_comes_back_on_the_page_without_a_reload(
    operator_page: Page, api: httpx.Client
) -> None:
    page = operator_page
    job_id = _launch_example(page)
    _wait_for_training(page, 1)
    expect(page.get_by_test_id("world-size")).to_have_text("4")
    expect(page.get_by_test_id("failure-restarts")).to_have_text("0")
    page.wait_for_function(
        "() => /step [2-9]\\d/.test(document.querySelector('[data-testid=headline]').innerText)",
        timeout=SLOW_MS,
    )

    page.get_by_role("button", name="Kill rank 3").click()
    dialog = page.get_by_role("dialog")
    forecast = dialog.get_by_test_id("fault-forecast")
    expect(forecast).to_contain_text("Same-node restart: world size 4 → 4", timeout=SOON_MS)
    expect(forecast).to_contain_text("0 → 1 of 3")
    dialog.get_by_label("Reason").fill("to see it come back")
    dialog.get_by_role("button", name="Kill rank 3").click()

    progress = dialog.get_by_test_id("fault-progress")
    expect(progress).to_contain_text("is gone", timeout=SOON_MS)
    expect(progress).to_contain_text("round 2 is formed, world size 4", timeout=SOON_MS)
    dialog.get_by_role("button", name="Close").last.click()

    expect(page.get_by_test_id("why")).to_contain_text(
        "was killed by SIGKILL by operator (to see it come back)", timeout=SOON_MS
    )
    _wait_for_training(page, 2)
    expect(page.get_by_test_id("failure-restarts")).to_have_text("1")
    expect(page.get_by_test_id("membership-restarts")).to_have_text("0")
    expect(page.get_by_test_id("why")).to_contain_text("resumed from step", timeout=SOON_MS)

    seen = job(api, job_id)
    assert (seen["round"], seen["world_size"], seen["restarts"]["failure"]) == (2, 4, 1)
    assert seen["resumed_step"] >= 20
    page.wait_for_function(
        f"() => +document.querySelector('[data-testid=headline]').innerText.match(/step ([\\d,]+)/)[1]"
        f".replace(',', '') > {seen['resumed_step']}",
        timeout=SLOW_MS,
    )
    assert _step(page) > seen["resumed_step"]
    _read_the_cause(page)

    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Stop char-lm").click()
    expect(page.get_by_test_id("headline")).to_contain_text("stopped", timeout=SLOW_MS)
    assert job(api, job_id)["stopped_by"] == "operator"


def test_a_phone_shows_state_numbers_and_kill_buttons_without_scrolling_sideways(
    operator_page: Page, api: httpx.Client
) -> None:
    page = operator_page
    job_id = _launch_example(page)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    _wait_for_training(page, 1)
    expect(page.get_by_test_id("world-size")).to_be_visible()
    expect(page.get_by_role("button", name="Kill rank 0")).to_be_visible()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    stop(api, job_id)


def test_a_job_that_a_known_trouble_ended_says_what_to_do(
    operator_page: Page, api: httpx.Client, tmp_path: Path
) -> None:
    page = operator_page
    script = tmp_path / "fails.py"
    script.write_text("raise ValueError('no such column')\n")
    job_id = launch(api, name="fails", nproc_per_node=1, script=str(script))
    wait_job(api, job_id, "the job to fail", 60, state="failed")
    page.goto(f"/jobs/{job_id}")
    troubles = page.get_by_role("list", name="Known troubles")
    for trouble in job(api, job_id)["troubles"]:
        told = troubles.get_by_role("listitem").filter(has_text=trouble["sentence"])
        expect(told).to_contain_text(f"Known from {trouble['source']}.")
        expect(told).to_contain_text(trouble["what_to_do"])
    expect(troubles).to_contain_text("Launch it with max_restarts 1 or more")


def test_a_wrong_field_is_said_at_the_field_and_nothing_is_lost(operator_page: Page) -> None:
    page = operator_page
    page.goto("/jobs/new")
    page.get_by_label("nnodes").fill("3:2")
    page.get_by_role("button", name="Launch", exact=True).click()
    field = page.get_by_label("nnodes")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Write 2:3").first).to_be_visible()
    expect(field).to_have_value("3:2")
    expect(page.get_by_label("script")).to_have_value(re.compile(r"char_lm\.py$"))


def test_a_wrong_password_is_refused_in_words(page: Page) -> None:
    page.goto("/jobs")
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password", exact=True).fill("not the password")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("heading", name="Jobs")).not_to_be_visible()


def test_every_node_is_listed_with_its_slots_and_what_it_is_made_of(operator_page: Page) -> None:
    page = operator_page
    page.goto("/nodes")
    for name in ("node-1", "node-2", "node-3"):
        row = page.locator(f"tr[data-node={name}]")
        expect(row).to_contain_text("online")
        expect(row).to_contain_text("of 2 free")
        expect(row).to_contain_text("2.13.0")
