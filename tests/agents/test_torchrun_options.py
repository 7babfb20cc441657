"""torchrun's options do in a real runner what they do in torchrun."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.runner_harness import Attempt, Runner, write_script

SPEAKER = """
import json, os, sys
rank = os.environ["RANK"]
print("loss", rank, flush=True)
print("learning", rank, flush=True)
print("trouble", rank, file=sys.stderr, flush=True)
"""

WITNESS = """
import json, os, sys
names = ("LOCAL_RANK", "CUDA_VISIBLE_DEVICES", "ROLE_NAME", "TORCHELASTIC_SIGNALS_TO_HANDLE", "WORLD_SIZE",
         "LOCAL_WORLD_SIZE", "OMP_NUM_THREADS")
print(json.dumps({name: os.environ.get(name) for name in names} | {"argv": sys.argv[1:]}))
"""

Spec = dict[str, Any]

WAYS = pytest.mark.parametrize("start", ["exec", "preload"])


def run(folder: Path, message: dict[str, Any] | None = None, **spec: Any) -> Runner:
    """A runner alone, run to its end."""
    with Attempt(folder, **{"max_restarts": 0, **spec}) as attempt:
        (runner,) = attempt.start("node-a", **(message or {}))
        runner.finish(120)
    return runner


def seen_by(runner: Runner, rank: int) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads(runner.bundle.log(1, rank, "stdout").read_text())
    return seen


def lines(path: Path) -> set[str]:
    return set(path.read_text().splitlines())


def said(runner: Runner) -> set[str]:
    """What stands in the runner's log of what workers wrote."""
    words = ("loss", "learning", "trouble")
    return {line for line in lines(runner.bundle.own_log) if any(word in line for word in words)}


@pytest.mark.parametrize(
    ("start", "spec", "copied"),
    [
        ("exec", {"redirects": "3"}, set()),
        (
            "preload",
            {"tee": "0:1,1:2"},
            {"[default0]:loss 0", "[default0]:learning 0", "[default1]:trouble 1"},
        ),
        ("exec", {"tee": "2", "local_ranks_filter": "1", "role": "actor"}, {"[actor1]:trouble 1"}),
        (
            "exec",
            {"tee": "2", "log_line_prefix_template": "${role_name}.${local_rank}.${rank}> "},
            {"default.0.0> trouble 0", "default.1.1> trouble 1"},
        ),
        (
            "preload",
            {"tee": "2", "env": {"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE": "r${rank} "}},
            {"r0 trouble 0", "r1 trouble 1"},
        ),
    ],
)
def test_tee_copies_to_the_runners_log(start: str, spec: Spec, copied: set[str], tmp_path: Path) -> None:
    runner = run(tmp_path, script=write_script(tmp_path, SPEAKER), start=start, preload=(), **spec)
    assert said(runner) == copied
    for rank in (0, 1):
        assert lines(runner.bundle.log(1, rank, "stdout")) == {f"loss {rank}", f"learning {rank}"}
        assert f"trouble {rank}" in lines(runner.bundle.log(1, rank, "stderr"))


def test_filters_pick_lines_out_of_what_is_copied(tmp_path: Path) -> None:
    spec: Spec = {
        "tee": "3",
        "duplicate_stdout_filters": ("loss",),
        "duplicate_stderr_filters": ("trouble 1",),
    }
    runner = run(tmp_path, script=write_script(tmp_path, SPEAKER), start="exec", **spec)
    folder = runner.bundle.rank_folder(1, 0).parent
    assert lines(folder / "filtered_stdout.log") == {"[default0]:loss 0", "[default1]:loss 1"}
    assert lines(folder / "filtered_stderr.log") == {"[default1]:trouble 1"}


@WAYS
def test_a_worker_with_a_virtual_local_rank_sees_its_own_gpu(start: str, tmp_path: Path) -> None:
    spec: Spec = {"virtual_local_rank": True, "env": {"CUDA_VISIBLE_DEVICES": "GPU-a, GPU-b"}, "start": start}
    runner = run(tmp_path, script=write_script(tmp_path, WITNESS), preload=(), **spec)
    seen = [seen_by(runner, rank) for rank in (0, 1)]
    assert [one["LOCAL_RANK"] for one in seen] == ["0", "0"]
    assert [one["CUDA_VISIBLE_DEVICES"] for one in seen] == ["GPU-a", "GPU-b"]


def test_role_and_signals_reach_the_workers(tmp_path: Path) -> None:
    spec: Spec = {"role": "trainer", "signals_to_handle": "SIGTERM,SIGUSR1", "args": ("gpu-${local_rank}",)}
    runner = run(tmp_path, script=write_script(tmp_path, WITNESS), preload=(), **spec)
    seen = seen_by(runner, 1)
    assert (seen["ROLE_NAME"], seen["TORCHELASTIC_SIGNALS_TO_HANDLE"]) == ("trainer", "SIGTERM,SIGUSR1")
    assert seen["argv"] == ["gpu-1"]


def test_as_many_workers_start_as_the_hub_counted_for_the_node(tmp_path: Path) -> None:
    script = write_script(tmp_path, WITNESS)
    runner = run(tmp_path, {"nproc": 3}, script=script, start="exec", nproc_per_node="auto")
    assert runner.records("rendezvous_completed")[0]["world_size"] == 3
    seen = seen_by(runner, 2)
    assert (seen["WORLD_SIZE"], seen["LOCAL_WORLD_SIZE"], seen["OMP_NUM_THREADS"]) == ("3", "3", "1")


def test_events_of_torch_go_to_the_runners_log_when_asked_for(tmp_path: Path) -> None:
    runner = run(tmp_path, script=write_script(tmp_path, WITNESS), start="exec", event_log_handler="console")
    assert "torchelastic.worker.status" in runner.bundle.own_log.read_text()


@pytest.mark.parametrize("by_path", [True, False])
def test_a_program_runs_without_python(by_path: bool, tmp_path: Path) -> None:
    program = "sh"
    if by_path:
        program = str(tmp_path / "train")
        Path(program).write_text('#!/bin/sh\nexec sh "$@"\n')
        Path(program).chmod(0o755)
    args = ("-c", 'echo "rank $RANK $0"', "local ${local_rank}")
    runner = run(tmp_path, script=program, args=args, no_python=True, start="exec")
    assert runner.records("runner_finished")[0]["outcome"] == "succeeded"
    assert runner.bundle.log(1, 1, "stdout").read_text() == "rank 1 local 1\n"


@pytest.mark.parametrize(
    ("program", "says"),
    [("nonesuch-program", "is not in PATH on node-a"), ("./data", "cannot be executed on node-a")],
)
def test_a_program_that_is_not_there_is_named(program: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "data").touch(mode=0o644)
    runner = run(tmp_path, script=program, no_python=True, start="exec", workdir=str(tmp_path))
    last = runner.records("runner_finished")[0]
    assert last["outcome"] == "failed"
    assert says in last["reason"]


def test_a_node_without_gpus_says_that_it_cannot_bind_workers_to_them(tmp_path: Path) -> None:
    env = {"CUDA_VISIBLE_DEVICES": ""}
    runner = run(tmp_path, script=write_script(tmp_path, WITNESS), start="exec", numa_binding="node", env=env)
    last = runner.records("runner_finished")[0]
    assert (last["outcome"], "torch sees no GPU on node-a" in last["reason"]) == ("failed", True)
