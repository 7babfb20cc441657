"""An operator scales a job, drains a node and forces a stop on the page, told beforehand what will happen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE
from tests.browser.test_people import log_in, make_user
from tests.system.jobs import Json, job, launch, launch_counting, stop, wait_job
from tests.system.stack import Stack
from tests.waiting import ms, wait_until

SLOW_MS = ms(90)
SOON_MS = ms(20)
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    time.sleep(1)
"""


@pytest.fixture
def training(api: httpx.Client, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[int]:
    """A job with one worker on each node, on as many nodes as the test names."""
    nodes = getattr(request, "param", 1)
    job_id = launch_counting(api, tmp_path, steps=1_000_000, nodes=nodes, nproc_per_node=1)
    wait_job(api, job_id, "the job to train", 90, state="training")
    yield job_id
    stop(api, job_id)


@pytest.fixture
def nodes_in_use(api: httpx.Client) -> Iterator[None]:
    """Whatever a test drained gets jobs again."""
    yield
    for node in api.get("/api/nodes").json()["items"]:
        assert api.post(f"/api/nodes/{node['name']}/undrain").status_code == 200


def _open(page: Page, job_id: int) -> None:
    page.goto(f"/jobs/{job_id}")
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SLOW_MS)


def _scale(page: Page, button: str, act: str, *forecast: str) -> Locator:
    """Ask for it in the dialog, once it has said what it will do; gives the steps on its way."""
    page.get_by_role("button", name=button).click()
    dialog = page.get_by_role("dialog")
    for sentence in forecast:
        expect(dialog.get_by_test_id("scale-forecast")).to_contain_text(sentence, timeout=SOON_MS)
    dialog.get_by_label("Reason").fill("to see it follow")
    dialog.get_by_role("button", name=act, exact=True).click()
    return dialog.get_by_test_id("scale-progress")


def _close(page: Page) -> None:
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()


def test_a_job_grows_and_shrinks_by_the_control_and_spends_no_failure_restart(
    operator_page: Page, api: httpx.Client, training: int
) -> None:
    page = operator_page
    _open(page, training)
    expect(page.get_by_test_id("nodes-note")).to_have_text("1 wanted of 1 to 3.")
    expect(page.get_by_role("button", name="Scale down to 0 nodes")).to_be_disabled()

    progress = _scale(
        page,
        "Scale up to 2 nodes",
        "Scale to 2 nodes",
        "1 node more: a membership restart, world size 1 → 2. No failure restart is spent.",
        "has 2 free slots",
    )
    expect(progress).to_contain_text("2 nodes wanted", timeout=SOON_MS)
    expect(progress).to_contain_text("round 2 is formed with 2 nodes, world size 2", timeout=SLOW_MS)
    expect(progress.locator("li[data-reached]").last).to_have_text(
        re.compile("2 of 2 nodes alive"), timeout=SLOW_MS
    )
    _close(page)
    expect(page.get_by_test_id("nodes-formed")).to_have_text("2")
    expect(page.get_by_test_id("world-size")).to_have_text("2")

    progress = _scale(
        page, "Scale down to 1 node", "Scale to 1 node", "1 node fewer", "keeps the store and stays"
    )
    expect(progress).to_contain_text("is to leave", timeout=SOON_MS)
    expect(progress).to_contain_text("round 3 is formed with 1 node, world size 1", timeout=SLOW_MS)
    expect(progress.locator("li[data-reached]").last).to_have_text(
        re.compile("1 of 1 node alive"), timeout=SLOW_MS
    )
    expect(progress.locator("li").filter(has_text="has left")).to_have_attribute(
        "data-reached", "true", timeout=SLOW_MS
    )
    _close(page)

    expect(page.get_by_test_id("failure-restarts")).to_have_text("0")
    expect(page.get_by_test_id("membership-restarts")).to_have_text("2")
    page.get_by_role("tab", name="Nodes").click()
    gone = next(member["node"] for member in job(api, training)["members"] if member["has_left"])
    expect(page.locator(f"tr[data-member={gone}]")).to_contain_text("left")
    expect(page.locator(f"tr[data-standing-of={gone}]")).to_contain_text(
        "It left: scaled down from 2 to 1 node by operator: to see it follow."
    )


def test_a_fixed_number_of_nodes_cannot_be_changed_and_the_page_says_why(
    operator_page: Page, api: httpx.Client, tmp_path: Path
) -> None:
    page = operator_page
    job_id = launch_counting(api, tmp_path, steps=1_000_000, nnodes="1", nodes=1, nproc_per_node=1)
    _open(page, job_id)
    expect(page.get_by_test_id("nodes-note")).to_have_text(
        "1 wanted. nnodes is 1, so that the number of nodes is fixed."
    )
    expect(page.get_by_role("button", name="Scale up to 2 nodes")).to_be_disabled()
    stop(api, job_id)
    expect(page.get_by_role("button", name=re.compile("^Scale"))).to_have_count(0, timeout=SOON_MS)


def _drain(page: Page, node: str, *forecast: str) -> Locator:
    page.goto("/nodes")
    page.get_by_role("button", name=f"Drain {node}").click()
    dialog = page.get_by_role("dialog")
    for sentence in forecast:
        expect(dialog.get_by_test_id("drain-forecast")).to_contain_text(sentence, timeout=SOON_MS)
    dialog.get_by_label("Reason").fill("a new disk")
    dialog.get_by_role("button", name=f"Drain {node}").click()
    return dialog.get_by_test_id("drain-progress")


def _other_than(seen: Json, name: str | None) -> str:
    return str(next(member["node"] for member in seen["members"] if member["node"] != name))


@pytest.mark.parametrize("training", [2], indirect=True)
@pytest.mark.usefixtures("nodes_in_use")
def test_a_drained_node_moves_its_job_as_was_said_and_is_used_again(
    operator_page: Page, api: httpx.Client, training: int
) -> None:
    page = operator_page
    seen = job(api, training)
    node = _other_than(seen, seen["store_host"])

    progress = _drain(page, node, f"moves from {node} to", "no failure restart is spent")

    expect(progress).to_contain_text(f"{node} gets no more jobs", timeout=SOON_MS)
    drained = progress.locator("li").filter(has_text="drained: nothing of any job is left")
    expect(drained).to_have_attribute("data-reached", "true", timeout=SLOW_MS)
    _close(page)
    expect(page.locator(f"tr[data-node={node}]")).to_contain_text("drained", timeout=SOON_MS)
    expect(page.locator(f"tr[data-told-of={node}]")).to_contain_text("Drained by operator: a new disk.")
    now = wait_job(api, training, "the job to train elsewhere", 60, state="training", world_size=2)
    assert node not in [member["node"] for member in now["members"] if not member["outcome"]]
    assert now["restarts"]["failure"] == 0

    page.get_by_role("button", name=f"Use {node} again").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Use {node} again").click()
    expect(page.get_by_role("dialog")).to_contain_text(f"{node} gets jobs again.", timeout=SOON_MS)
    _close(page)
    expect(page.locator(f"tr[data-node={node}]")).to_contain_text("online", timeout=SOON_MS)
    expect(page.locator(f"tr[data-told-of={node}]")).to_have_count(0)


@pytest.mark.usefixtures("nodes_in_use")
def test_a_drained_store_host_ends_the_attempt_and_the_page_says_why_and_what_follows(
    operator_page: Page, api: httpx.Client, training: int
) -> None:
    page = operator_page
    host = job(api, training)["store_host"]

    _drain(page, host, "starts anew as attempt 2 on", f"because {host} keeps its store")

    page.goto(f"/jobs/{training}")
    expect(page.get_by_text("attempt 2 of at most 5")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_test_id("attempts")).to_contain_text(
        f"after 1 round: {host} was drained by operator: a new disk.", timeout=SOON_MS
    )
    wait_job(api, training, "the next attempt to train", 60, state="training", attempt=2)
    page.get_by_role("button", name="all 2 attempts").click()
    expect(page.get_by_label("Attempts, newest first").locator("li")).to_have_count(2)


def test_a_stop_counts_its_grace_down_and_can_be_forced(
    operator_page: Page, api: httpx.Client, tmp_path: Path
) -> None:
    page = operator_page
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    job_id = launch(api, name="stubborn", script=str(script), nproc_per_node=1, shutdown_timeout=120)
    wait_until(lambda: "ready" in _output(api, job_id), 60, "the worker to ignore SIGTERM")
    page.goto(f"/jobs/{job_id}")
    page.get_by_role("button", name="Stop", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Stop stubborn").click()
    expect(dialog.get_by_test_id("stop-ladder")).to_have_text(
        re.compile(r"SIGTERM sent; SIGKILL in 1\d\d s\."), timeout=SOON_MS
    )
    _close(page)
    ladder = page.get_by_test_id("stop-ladder")
    expect(ladder).to_have_text(re.compile(r"SIGKILL in 1?\d\d s\."))
    shown = ladder.inner_text()
    expect(ladder).not_to_have_text(shown, timeout=SOON_MS)

    page.get_by_role("button", name="Stop now").click()
    expect(dialog).to_contain_text(
        "Sends SIGKILL to 1 worker that still runs, without waiting for the grace of 120 s."
    )
    dialog.get_by_role("button", name="Stop stubborn now").click()

    expect(dialog).to_contain_text("Asked to end at once.", timeout=SOON_MS)
    _close(page)
    expect(page.get_by_test_id("headline")).to_contain_text("stopped", timeout=SLOW_MS)
    assert job(api, job_id)["stopped_by"] == "operator"


def _output(api: httpx.Client, job_id: int) -> str:
    answer = api.get(f"/api/jobs/{job_id}/logs")
    return "\n".join(line["text"] for line in answer.json()["items"]) if answer.status_code == 200 else ""


def test_scaling_works_from_the_keyboard_on_a_phone_without_scrolling_sideways(
    operator_page: Page, training: int
) -> None:
    page = operator_page
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    _open(page, training)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_role("button", name="Scale up to 2 nodes").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="One node more").focus()
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("3 of 1 to 3 nodes, 1 wanted now")
    expect(dialog.get_by_test_id("scale-forecast")).to_contain_text("world size 1 → 3")
    assert dialog.evaluate("element => element.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()


def test_a_viewer_finds_nothing_that_scales_or_drains_and_is_told_who_may(
    page: Page, stack: Stack, training: int
) -> None:
    log_in(page, "ottilie", make_user(stack, "ottilie", "viewer"))
    expect(page.get_by_role("button", name="Account ottilie, viewer")).to_be_visible(timeout=SOON_MS)
    _open(page, training)
    expect(page.get_by_test_id("nodes-note")).to_have_text("1 wanted of 1 to 3.")
    expect(page.get_by_text("Scale, Stop and Kill need the role operator")).to_be_visible()
    page.goto("/nodes")
    expect(page.get_by_text("draining a node needs the role operator")).to_be_visible(timeout=SOON_MS)
    expect(page.locator("tr[data-node]").first).to_be_visible(timeout=SOON_MS)
    expect(page.get_by_role("button", name=re.compile("^(Scale|Stop|Drain|Use )"))).to_have_count(0)
