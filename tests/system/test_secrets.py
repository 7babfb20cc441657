"""A job's secrets reach its workers, and lie open nowhere else, whatever becomes of the job."""

from __future__ import annotations

from pathlib import Path

import psutil

from tests.system.answers import questions, text_of
from tests.system.jobs import Json, job, kill, launch, wait_command, wait_job, worker
from tests.system.left_behind import command_lines_with, files_with, keys_with
from tests.system.stack import Stack
from tests.waiting import wait_until
from webapp.masking import MASK

WORD = "s3al3d-90210"
SECRETS = {
    "TEAM_WORD": f"{WORD}-marked",
    "API_TOKEN": f"{WORD}-named",
    "DATABASE_URL": f"postgres://user:{WORD}@host/db",
}
SCRIPT = """
import pathlib, sys, time
import regroup_report
regroup_report.step(1)
go = pathlib.Path(sys.argv[1])
print("waits", flush=True)
while not go.exists():
    time.sleep(0.05)
sys.exit(int(go.read_text()))
"""


def environment_of(seen: Json) -> dict[str, str]:
    environ = psutil.Process(worker(seen, 0)["pid"]).environ()
    return {name: environ[name] for name in SECRETS}


def test_nothing_that_a_job_leaves_behind_holds_its_secrets(stack: Stack, tmp_path: Path) -> None:
    script, go = tmp_path / "train.py", tmp_path / "go"
    script.write_text(SCRIPT)
    with stack.client("selma", "operator") as api:
        spec = {"script": str(script), "args": [str(go)], "max_restarts": 1, "env": SECRETS | {"EPOCHS": "3"}}
        job_id = launch(api, **spec, secret_env=["TEAM_WORD"])
        first = wait_job(api, job_id, "the job to train", 90, state="training")
        assert environment_of(first) == SECRETS
        wait_command(api, kill(api, first, 0).json()["id"])
        second = wait_job(api, job_id, "the second round", 90, state="training", round=2)
        assert environment_of(second) == SECRETS
        assert command_lines_with(stack, WORD) == []
        evidence = wait_until(
            lambda: api.get(f"/api/jobs/{job_id}/evidence").json()["rounds"], 30, "the evidence to be kept"
        )
        assert evidence
        answers = {path: api.get(path) for path in questions(api, job_id, SECRETS)}
        assert {path: a.status_code for path, a in answers.items() if a.status_code != 200} == {}
        assert [path for path, answer in answers.items() if WORD in text_of(answer)] == []
        go.write_text("3")
        failed = wait_job(api, job_id, "the job to fail", 60, state="failed")
        shown = failed["spec"]
        assert shown["env"]["TEAM_WORD"] == MASK
        go.unlink()
        again = launch(api, **shown, copy_of=job_id)
        third = wait_job(api, again, "the job once more", 90, state="training")
        assert environment_of(third) == SECRETS
        assert keys_with(stack, WORD) == []
        go.write_text("0")
        wait_job(api, again, "the job to succeed", 60, state="succeeded")
        assert [path for path in questions(api, again, SECRETS) if WORD in text_of(api.get(path))] == []
        assert job(api, again)["spec"]["secret_env"] == ["TEAM_WORD"]
        assert files_with(stack.data, WORD) == []
        assert keys_with(stack, WORD) == []
