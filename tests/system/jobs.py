"""What a person does with jobs, through the public API alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.waiting import wait_until

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

Json = dict[str, Any]


def launch(api: httpx.Client, **spec: Any) -> int:
    """Create a job and give its id."""
    answer = api.post("/api/jobs", json={"preload": _preload(spec)} | spec)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def _preload(spec: Json) -> list[str]:
    """What the script has a use for: what torch imports for optimizers takes long, and none has one."""
    script = Path(spec.get("script") or "")
    is_read = script.is_absolute() and script.is_file()
    return [] if is_read and "import torch" not in script.read_text() else ["torch.distributed"]


def is_called_silent(seen: Json, node: str) -> bool:
    """The job's sentence says that it is not heard, whoever else was silent for a moment."""
    return re.search(rf"\b{node}\b[^.]* (is|are) not heard", seen["state_reason"]) is not None


def launch_counting(
    api: httpx.Client, checkpoints: Path, *, steps: int = 5000, collective: bool = False, **spec: Any
) -> int:
    """A job that makes steps and checkpoints, on two nodes with one worker each, unless told otherwise.

    ``collective``: its ranks meet in torch's process group at every step, so that all feel the loss of one.
    """
    script = {"name": "counting", "script": str(Path(__file__).with_name("counting.py"))}
    if collective:
        return _launch_elastic(api, checkpoints, steps, ["--collective"], script | spec)
    # It says how torch is imported, and does not import it.
    return _launch_elastic(api, checkpoints, steps, [], script | {"preload": []} | spec)


def launch_char_lm(api: httpx.Client, checkpoints: Path, *, steps: int = 5000, **spec: Any) -> int:
    """The same with the example, which trains a model."""
    script = {"name": "char-lm", "script": str(EXAMPLES / "char_lm.py"), "preload": ["torch"]}
    return _launch_elastic(api, checkpoints, steps, [], script | spec)


def _launch_elastic(api: httpx.Client, checkpoints: Path, steps: int, more: list[str], spec: Json) -> int:
    # Steps are cheap and rare: several such jobs train at a time while the tests run.
    args = ["--steps", str(steps), "--checkpoint-dir", str(checkpoints)]
    args += ["--checkpoint-every", "5", "--pace", "0.2", *more]
    usual = {"nnodes": "1:3", "nodes": 2, "nproc_per_node": 1, "max_restarts": 3, "args": args}
    return launch(api, **(usual | spec))


def job(api: httpx.Client, job_id: int) -> Json:
    answer = api.get(f"/api/jobs/{job_id}")
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def pid_of_keeper(api: httpx.Client, job_id: int) -> int:
    """The newest store keeper of the job, as the events tell it."""
    events = api.get(f"/api/jobs/{job_id}/events?limit=500").json()["items"]
    return int([event["body"]["pid"] for event in events if event["kind"] == "keeper_started"][-1])


def wait_job(api: httpx.Client, job_id: int, what: str, timeout_s: float = 60.0, **expected: Any) -> Json:
    """Wait until the job's answer has all the expected values; gives that answer."""

    def holds() -> Json | None:
        seen = job(api, job_id)
        last.update(seen)
        return seen if all(seen[key] == value for key, value in expected.items()) else None

    last: Json = {}
    try:
        return wait_until(holds, timeout_s, what)
    except AssertionError as error:
        told = {key: last.get(key) for key in ("state", "state_reason", "round", "world_size", "restarts")}
        raise AssertionError(f"{error}\nthe job was: {told}") from None


def worker(seen: Json, rank: int) -> Json:
    found: Json = next(w for w in seen["workers"] if w["rank"] == rank)
    return found


def kill(api: httpx.Client, seen: Json, rank: int, reason: str = "to see it come back") -> httpx.Response:
    """Press Kill for a rank, as seen in that answer."""
    target = worker(seen, rank)
    return api.post(
        f"/api/jobs/{seen['id']}/faults",
        json={
            "kind": "kill_worker",
            "rank": rank,
            "signal": "SIGKILL",
            "reason": reason,
            "if": {"round": target["round"], "pid": target["pid"], "attempt": seen["attempt_id"]},
        },
    )


def wait_command(api: httpx.Client, command_id: str, timeout_s: float = 15.0) -> Json:
    """Wait until a command is closed by evidence, a refusal or its deadline."""

    def closed() -> Json | None:
        found: Json = api.get(f"/api/commands/{command_id}").json()
        return found if found["is_final"] else None

    return wait_until(closed, timeout_s, f"command {command_id} to be closed")


def stop(api: httpx.Client, job_id: int, timeout_s: float = 40.0) -> Json:
    assert api.post(f"/api/jobs/{job_id}/stop", json={"reason": "the test is over"}).status_code == 200
    return wait_job(api, job_id, "the job to be stopped", timeout_s, state="stopped")


@contextmanager
def ending_new_jobs(api: httpx.Client) -> Iterator[None]:
    """What is launched in here ends with it: a test that fails takes no slots from those behind it."""
    newest = max((one["id"] for one in _living(api)), default=0)
    yield
    left = [one["id"] for one in _living(api) if one["id"] > newest]
    for job_id in left:
        api.post(f"/api/jobs/{job_id}/stop", json={"reason": "the test is over", "force": True})
    wait_until(lambda: not {one["id"] for one in _living(api)} & set(left), 60, f"jobs {left} to end")


def _living(api: httpx.Client) -> list[Json]:
    return [one for one in api.get("/api/jobs?limit=500").json()["items"] if one["ended_at"] is None]


def leave_as_found(api: httpx.Client) -> None:
    """End every job, take every node into use again, and wait until all slots are free."""
    for one in _living(api):
        api.post(f"/api/jobs/{one['id']}/stop", json={"reason": "the test is over", "force": True})
    for node in api.get("/api/nodes").json()["items"]:
        if node["takes_no_jobs"]:
            api.post(f"/api/nodes/{node['name']}/undrain")

    def all_free() -> bool:
        nodes = api.get("/api/nodes").json()["items"]
        return all(node["slots_free"] == node["slots"] and not node["takes_no_jobs"] for node in nodes)

    wait_until(all_free, 60, "all slots to be free again")
