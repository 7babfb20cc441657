"""The page as a later release would have it, and a web process that serves it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.system.stack import ROOT, Stack, free_port
from tests.waiting import wait_until


def anew(name: str) -> str:
    """``index-1a2b3c4d.js`` with the hash of another content."""
    return re.sub(r"-[\w-]{8}\.js$", "-NewerNew.js", name)


def built_anew(folder: Path) -> Path:
    """The page as another build would leave it: other names of files, which carry a hash."""
    dist = folder / "dist"
    shutil.copytree(ROOT / "frontend" / "dist", dist)
    for packed in (dist / "assets").glob("*.gz"):
        packed.unlink()
    scripts = list((dist / "assets").glob("*.js"))
    for file in (dist / "index.html", *scripts):
        text = file.read_text()
        for script in scripts:
            text = text.replace(script.name, anew(script.name))
        file.write_text(text)
    for script in scripts:
        script.rename(script.with_name(anew(script.name)))
    return dist


@contextmanager
def another_web(stack: Stack, dist: Path) -> Iterator[int]:
    """A second web process of the same hub, with that page. Gives its port."""
    web, port = stack.process_of("web"), free_port()
    assert web is not None
    command = [sys.executable, "-m", "uvicorn", "webapp.asgi:application", "--port", str(port)]
    environment = {**web.environ(), "REGROUP_FRONTEND": str(dist)}
    with (dist.parent / "web.log").open("wb") as log:
        running = subprocess.Popen(
            [*command, "--lifespan", "off"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
    try:
        wait_until(lambda: _answers(port), 60, "the new web process to answer")
        yield port
    finally:
        running.kill()
        running.wait(10)


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
    except httpx.TransportError:
        return False
