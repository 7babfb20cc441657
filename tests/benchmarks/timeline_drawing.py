"""How fast the timeline is drawn and moved: ``python -m tests.benchmarks.timeline_drawing``.

A thousand ranks and a hundred rounds with all lanes open, in a real Chromium 1440 px wide. One JSON line on
stdout. Exit status 1: a target was missed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, sync_playwright

from tests.browser.chromium import FLAGS, ROOT, find_chromium

from .progress import say

FRONTEND = ROOT / "frontend"
ADDRESS = "http://timeline.invalid/"
PAGE = """<!doctype html><html data-mantine-color-scheme="light"><body><div id="root"></div>
<link rel="stylesheet" href="/drawing.css"><script type="module" src="/drawing.js"></script></body></html>"""
WINDOW = {"width": 1440, "height": 900}
DRAW_MOST_MS = 150
FRAMES_LEAST = 30
KINDS = {".js": "text/javascript", ".css": "text/css"}


def build(into: Path) -> None:
    vite = FRONTEND / "node_modules" / ".bin" / "vite"
    command = [str(vite), "build", "--config", "benchmark.config.ts", "--outDir", str(into), "--emptyOutDir"]
    subprocess.run(command, cwd=FRONTEND, check=True, stdout=sys.stderr)


def measure(folder: Path) -> dict[str, Any]:
    executable, environment = find_chromium(folder)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(executable), args=FLAGS, env={**os.environ, **environment}
        )
        page = browser.new_page(viewport=WINDOW)  # type: ignore[arg-type]
        page.set_default_timeout(120_000)
        try:
            return _measure_on(page, folder / "built")
        finally:
            browser.close()


def _measure_on(page: Page, built: Path) -> dict[str, Any]:
    """Served from memory: the address is one that no machine has."""

    def serve(route: Route) -> None:
        file = built / route.request.url.removeprefix(ADDRESS).split("?")[0]
        if file.suffix in KINDS:
            route.fulfill(body=file.read_text(), content_type=KINDS[file.suffix])
        else:
            route.fulfill(body=PAGE, content_type="text/html")

    page.route(f"{ADDRESS}**", serve)
    page.goto(ADDRESS)
    page.wait_for_function("() => 'measure' in window")
    found: dict[str, Any] = page.evaluate("measure()")
    return found


def missed(line: dict[str, Any]) -> list[str]:
    """What was not reached, in sentences."""
    found = []
    slowest = line["draw_ms"]["max"]
    if slowest > DRAW_MOST_MS:
        found.append(f"Drawing took {slowest} ms, more than {DRAW_MOST_MS} ms.")
    if line["frames_per_s"] < FRAMES_LEAST:
        found.append(f"It moved at {line['frames_per_s']} frames a second, fewer than {FRAMES_LEAST}.")
    return found


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="regroup-drawing-"))
    try:
        say("building the picture")
        build(folder / "built")
        say("measuring it in Chromium")
        line = measure(folder)
    finally:
        shutil.rmtree(folder)
    sys.stdout.write(json.dumps(line) + "\n")
    sentences = missed(line)
    sys.stderr.write("".join(f"{sentence}\n" for sentence in sentences))
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
