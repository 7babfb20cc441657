"""Code that only the browser has: uploaded, launched, running on two nodes, used again, and removed."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from tests.system.jobs import job, stop
from tests.waiting import ms, wait_until

SLOW_MS = ms(60)
SOON_MS = ms(15)
SCRIPT = """
import os, time
import torch.distributed as dist
import regroup_report
from parts.words import WORDS

dist.init_process_group("gloo")
print(WORDS, os.environ["RANK"], "in", os.getcwd(), flush=True)
for step in range(1, 100_000):
    dist.barrier()
    regroup_report.step(step)
    time.sleep(0.2)
"""
WORDS = "these words came by upload"


def _folder(parent: Path) -> Path:
    folder = parent / "project"
    (folder / "parts").mkdir(parents=True)
    (folder / "train.py").write_text(SCRIPT)
    (folder / "parts" / "__init__.py").touch()
    (folder / "parts" / "words.py").write_text(f"WORDS = {WORDS!r}\n")
    return folder


def _said(api: httpx.Client, job_id: int) -> list[str]:
    """What the ranks have said of their code, each once."""
    items = api.get(f"/api/jobs/{job_id}/logs", params={"q": WORDS}).json().get("items", [])
    return sorted(item["text"] for item in items)


def test_an_uploaded_folder_runs_on_two_nodes(operator_page: Page, api: httpx.Client, tmp_path: Path) -> None:
    page = operator_page
    page.goto("/jobs/new")
    page.get_by_label("code", exact=True).select_option("uploaded here")
    page.get_by_label("choose a folder").set_input_files(_folder(tmp_path))
    uploaded = page.get_by_test_id("uploaded-code")
    expect(uploaded).to_contain_text("project: 3 files", timeout=SOON_MS)
    expect(page.get_by_label("script", exact=True)).to_have_value("train.py")
    # Those of the example, with which the form was filled.
    expect(page.get_by_label("args", exact=True)).to_have_value("")
    page.get_by_label("nnodes", exact=True).fill("2")
    page.get_by_label("nproc_per_node", exact=True).fill("1")
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url(re.compile(r"/jobs/\d+"), timeout=SLOW_MS)
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SLOW_MS)

    job_id = int(page.url.split("?")[0].rsplit("/", 1)[1])
    said = wait_until(lambda: said if len(said := _said(api, job_id)) == 2 else None, 30, "both ranks' words")
    assert [text.split(" in ")[0] for text in said] == [f"{WORDS} 0", f"{WORDS} 1"]
    folders = {text.split(" in ")[1] for text in said}
    assert len(folders) == 2
    assert all(folder.endswith("/code") for folder in folders)
    assert len({member["node"] for member in job(api, job_id)["members"]}) == 2
    stop(api, job_id)


def test_an_earlier_upload_is_used_again_and_another_one_removed(
    operator_page: Page, api: httpx.Client, tmp_path: Path
) -> None:
    page = operator_page
    wanted, needless = tmp_path / "wanted.py", tmp_path / "needless.py"
    wanted.write_text(f"print({WORDS!r}, flush=True)\n")
    needless.write_text("print('nobody runs this')\n")
    for script in (needless, wanted):
        _open_uploads(page)
        page.get_by_label("choose a file").set_input_files(script)
        expect(page.get_by_test_id("uploaded-code")).to_contain_text(script.name, timeout=SOON_MS)

    _open_uploads(page)
    page.get_by_text(re.compile("earlier uploads? of yours")).click()
    earlier = page.get_by_role("region", name="Earlier uploads")
    earlier.get_by_role("button", name=re.compile("Remove needless.py")).click()
    leaving = page.get_by_role("dialog")
    leaving.get_by_role("button", name="Remove the upload").click()
    expect(leaving.get_by_role("status")).to_have_text("needless.py is removed.", timeout=SOON_MS)
    assert page.url.endswith("/jobs/new")
    leaving.get_by_role("button", name="Close").first.click()
    expect(earlier.get_by_text("needless.py")).to_have_count(0)

    earlier.get_by_role("button", name=re.compile("Use wanted.py")).click()
    expect(page.get_by_label("script", exact=True)).to_have_value("wanted.py")
    expect(page.get_by_label("args", exact=True)).to_have_value("")
    page.get_by_label("nnodes", exact=True).fill("1")
    page.get_by_label("nodes", exact=True).fill("1")
    page.get_by_label("nproc_per_node", exact=True).fill("1")
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url(re.compile(r"/jobs/\d+"), timeout=SLOW_MS)
    expect(page.get_by_test_id("headline")).to_contain_text("succeeded", timeout=SLOW_MS)
    assert _said(api, int(page.url.split("?")[0].rsplit("/", 1)[1])) == [WORDS]


def _open_uploads(page: Page) -> None:
    page.goto("/jobs/new")
    page.get_by_label("code", exact=True).select_option("uploaded here")
