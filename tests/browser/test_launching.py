"""From a torchrun line in the clipboard to a job that trains, launched again, found, put away and stopped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, expect

from tests.system.jobs import job
from tests.waiting import ms

SLOW_MS = ms(60)
SOON_MS = ms(15)
WRONG = "--nproc-per-nodes"


def _line(script: str, folder: Path, *flags: str) -> str:
    args = f"--steps 3000 --pace 0.1 --checkpoint-dir {folder}"
    slurm = "A='x y' srun -N 2 --time=2:00:00 -J pasted"
    return f"{slurm} torchrun {' '.join(flags)} \\\n  --rdzv-id $RANDOM {script} {args}"


def _paste(page: Page, script: str, folder: Path) -> None:
    """First with a typing error, which is named at its place, then without."""
    page.goto("/jobs/new")
    box = page.get_by_label("Paste a torchrun command")
    box.fill(_line(script, folder, "--nnodes=1:2", f"{WRONG}=1"))
    said = page.get_by_test_id("parsed")
    expect(said.locator("mark")).to_have_text(WRONG)
    expect(said.get_by_role("region", name="To be mended")).to_contain_text("Write --nproc-per-node.")
    box.fill(_line(script, folder, "--nnodes=1:2", "--nproc-per-node=1", "--max-restarts=2"))
    expect(said).to_contain_text("The form is filled with this command.")
    expect(said.get_by_role("region", name="Left out or settled")).to_contain_text("srun was told 2.")
    expect(said.get_by_role("region", name="Left out or settled")).to_contain_text("an id of its own")


def _read_form(page: Page, script: str) -> None:
    expect(page.get_by_label("nnodes", exact=True)).to_have_value("1:2")
    expect(page.get_by_label("nproc_per_node", exact=True)).to_have_value("1")
    expect(page.get_by_label("max_restarts", exact=True)).to_have_value("2")
    expect(page.get_by_label("script", exact=True)).to_have_value(script)
    expect(page.get_by_label("name", exact=True)).to_have_value("pasted")
    expect(page.get_by_label("time_limit", exact=True)).to_have_value("2h")
    expect(page.get_by_label("Value of variable 1", exact=True)).to_have_value("x y")
    expect(page.get_by_test_id("launch-sentence")).to_have_text(
        "Runs on 1 to 2 nodes, as many as are free now, with 1 worker each: 1 to 2 ranks; survives losing 1 "
        "node; up to 2 failure restarts per node; is stopped after 2 h."
    )
    warnings = page.get_by_role("region", name="Warnings")
    expect(warnings).to_contain_text("The node that keeps the store may be lost too")
    page.get_by_text("Settings that hold").first.click()
    expect(page.get_by_text("lines come at once")).to_be_visible()


def _check(page: Page, button: str, region: str) -> None:
    page.get_by_role("button", name=button).click()
    told = page.get_by_role("region", name=region, exact=True)
    expect(told.get_by_role("status")).to_contain_text("Nothing stands in the way", timeout=SLOW_MS)


def _launch(page: Page) -> int:
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url(re.compile(r"/jobs/\d+"))
    return int(page.url.split("?")[0].rsplit("/", 1)[1])


def _example(api: httpx.Client) -> dict[str, Any]:
    example: dict[str, Any] = api.get("/api/example").json()
    return example


def test_a_pasted_line_trains_and_is_launched_again_found_and_put_away(
    operator_page: Page, api: httpx.Client, tmp_path: Path
) -> None:
    page, script = operator_page, _example(api)["script"]
    _paste(page, script, tmp_path / "first")
    _read_form(page, script)
    page.get_by_role("button", name="Copy as torchrun").click()
    expect(page.get_by_label("The torchrun line")).to_contain_text("--nnodes=1:2")
    page.get_by_label("labels", exact=True).fill("team=vision")
    page.get_by_label("notes", exact=True).fill("from a line")
    _check(page, "Check nodes", "Checks")
    first = _launch(page)
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SLOW_MS)
    expect(page.get_by_text("from a line")).to_be_visible()

    page.get_by_role("tab", name="Spec").click()
    expect(page.get_by_label("The torchrun line")).to_contain_text("A='x y' torchrun")
    page.get_by_text("Checks of its nodes").click()
    before = page.get_by_role("region", name="Checks before the launch")
    expect(before).to_contain_text("The launch asked for none.")
    _check(page, "Check its nodes now", "Checks now")
    page.get_by_role("link", name="Launch again").click()
    expect(page.get_by_text(f"Nothing differs from job {first} so far.")).to_be_visible()
    page.get_by_label("max_restarts", exact=True).fill("5")
    args = page.get_by_label("args", exact=True)
    args.fill(args.input_value().replace("/first", "/second"))
    differences = page.get_by_role("table", name=f"Differences from job {first}")
    expect(differences.get_by_role("row").filter(has_text="max_restarts")).to_have_text("max_restarts25")
    expect(differences.get_by_role("row").filter(has_text="args")).to_contain_text("/second")
    second = _launch(page)
    assert job(api, second)["spec"]["max_restarts"] == 5
    assert job(api, second)["labels"] == {"team": "vision"}

    page.goto("/jobs")
    page.get_by_role("link", name="team: vision").first.click()
    page.get_by_role("checkbox", name="Pick all jobs that can be stopped").check()
    page.get_by_role("group", name="Picked jobs").get_by_role("button", name="Stop").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("enough")
    dialog.get_by_role("button", name="Stop 2 jobs").click()
    results = dialog.get_by_test_id("stop-results").get_by_role("listitem")
    for number in (0, 1):
        expect(results.nth(number)).to_contain_text("stopped", timeout=SLOW_MS)
    dialog.get_by_role("button", name="Close").last.click()
    assert {job(api, number)["state"] for number in (first, second)} == {"stopped"}

    page.goto(f"/jobs/{first}")
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("button", name="Put back")).to_be_visible()
    page.goto("/jobs?label=team:vision")
    expect(page.locator(f"[data-job='{second}']")).to_be_visible()
    expect(page.locator(f"[data-job='{first}']")).to_have_count(0)
    page.get_by_role("checkbox", name="archived").check()
    expect(page.locator(f"[data-job='{first}']")).to_be_visible()
