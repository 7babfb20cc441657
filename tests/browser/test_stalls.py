"""A job that stands still says so, names the rank, and shows where its ranks stand."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from tests.browser.conftest import log_in
from tests.system.jobs import launch, stop, wait_job, worker
from tests.system.stack import Stack
from tests.waiting import ms

SCRIPT = """
import time
import torch
import torch.distributed as dist
import regroup_report

def train(steps):
    for step in range(1, steps):
        dist.all_reduce(torch.ones(1))
        time.sleep(0.1)
        regroup_report.step(step)

dist.init_process_group("gloo")
train(100_000)
"""
SOON_MS = ms(40)


def test_a_stopped_rank_is_shown_with_its_state_and_its_stack(
    stack: Stack, api: httpx.Client, page: Page, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    job_id = launch(api, name="stands", script=str(script), nnodes="1", nproc_per_node=2)
    seen = wait_job(api, job_id, "the job to train", state="training")
    frozen = worker(seen, 1)
    log_in(page, stack)
    page.goto(f"/jobs/{job_id}")
    row = page.locator("tr[data-rank='1']")
    expect(row.get_by_text(re.compile(r"^\d+ %$"))).to_be_visible(timeout=SOON_MS)
    expect(row.get_by_text(re.compile(r"\d+ MiB"))).to_be_visible()
    os.kill(frozen["pid"], signal.SIGSTOP)
    try:
        expect(page.get_by_test_id("headline")).to_contain_text("stalled", timeout=SOON_MS)
        expect(page.get_by_test_id("why")).to_contain_text(f"rank 1 on {frozen['node']}")
        expect(page.get_by_test_id("why")).to_contain_text("its process is stopped (T)")
        expect(page).to_have_title(re.compile("^stalled"))
        expect(row.get_by_text("stopped (T)")).to_be_visible(timeout=SOON_MS)
        page.get_by_role("link", name="Show where its ranks stand").click()
        expect(page).to_have_url(re.compile("tab=stacks"))
        stacks = page.get_by_role("region", name="Stacks")
        stacks.get_by_role("button", name="Take stacks").click()
        groups = stacks.get_by_role("list", name="Ranks by where they stand").first
        # Stopped inside the collective it stands where the others wait for it.
        expect(groups.get_by_text(re.compile(r"^(Rank 1|2 ranks: 0, 1)$"))).to_be_visible(timeout=SOON_MS)
        expect(groups.get_by_text(re.compile(r"train \(.*train\.py:\d+\)")).first).to_be_visible()
        expect(stacks.get_by_role("list", name="Stalls, newest first")).to_contain_text("rank 1")
    finally:
        os.kill(frozen["pid"], signal.SIGCONT)
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SOON_MS)
    expect(page.get_by_role("link", name="Show where its ranks stand")).to_have_count(0)
    stop(api, job_id)
