"""The local stack on a PostgreSQL server instead of the file in its data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx

from tests.postgres import run_postgres
from tests.system.jobs import launch, wait_job
from tests.system.stack import ROOT, Stack, run_stack


def token_of(stack: Stack, **settings: str) -> str:
    """As ``make token`` prints it, with the same settings as ``make run``."""
    command = [sys.executable, "-m", "webapp.stack.admin", str(stack.data), "make_token", "olga"]
    environment = {**os.environ, **settings}
    made = subprocess.run(
        [*command, "--role", "operator"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def test_a_job_runs_to_its_end_on_postgres(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('trained')\n")
    with run_postgres() as server:
        # A password belongs into a file rather than into the environment.
        file = tmp_path / "database_url"
        file.write_text(f"{server.url}\n")
        with run_stack(tmp_path, nodes=1, REGROUP_DATABASE_URL_FILE=str(file)) as stack:
            assert not (stack.data / "regroup.sqlite3").exists()
            token = token_of(stack, REGROUP_DATABASE_URL_FILE=str(file))
            with httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {token}"}) as api:
                job_id = launch(api, name="short", script=str(script), nproc_per_node=2)
                wait_job(api, job_id, "the job to end well", 90, state="succeeded")
