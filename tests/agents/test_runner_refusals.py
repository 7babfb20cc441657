"""What cannot run, or runs out of restarts, ends with one sentence that says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.agents.runner_harness import Attempt, write_script


def test_a_script_that_fails_at_import_is_named_with_exception_file_and_line(tmp_path: Path) -> None:
    script = write_script(tmp_path, "import os\n\nimport no_such_module\n")
    with Attempt(tmp_path, nproc_per_node=1, max_restarts=0, script=script) as attempt:
        (runner,) = attempt.start("node-a")
        last = runner.finish()
    assert last["outcome"] == "failed"
    assert last["reason"] == (
        "Rank 0 on node-a exited with code 1: ModuleNotFoundError: No module named 'no_such_module' "
        "(train.py:3), and the job allows no failure restarts (max_restarts 0)."
    )
    (ended,) = runner.records("worker_exited")
    assert (ended["role"], ended["error"]["line"], ended["error"]["read_from"]) == ("cause", 3, "stderr")
    assert runner.process.returncode == 1


def test_an_error_file_says_more_than_stderr(tmp_path: Path) -> None:
    script = write_script(
        tmp_path,
        "from torch.distributed.elastic.multiprocessing.errors import record\n"
        "@record\ndef main():\n    raise ValueError('bad learning rate -3')\nmain()\n",
    )
    with Attempt(tmp_path, nproc_per_node=1, max_restarts=0, preload=(), script=script) as attempt:
        (runner,) = attempt.start("node-a")
        assert "ValueError: bad learning rate -3 (train.py:4)" in runner.finish()["reason"]
    assert runner.records("worker_exited")[0]["error"]["read_from"] == "error file"


def test_a_budget_that_is_spent_ends_the_attempt_on_all_nodes(tmp_path: Path) -> None:
    script = write_script(
        tmp_path,
        "import os, sys, time\nif os.environ['RANK'] == '1':\n    sys.exit(3)\ntime.sleep(600)\n",
    )
    with Attempt(tmp_path, nnodes="2", nproc_per_node=1, max_restarts=1, script=script) as attempt:
        a, b = attempt.start("node-a", "node-b")
        why = b.finish()["reason"]
        assert why.startswith("Rank 1 on node-b exited with code 3 and wrote nothing to stderr")
        assert why.endswith("and node-b has no failure restarts left (1 of 1 spent).")
        others = a.finish()
        assert others["outcome"] == "stopped"
        assert others["reason"] == f"{why.rstrip('.')}; the rendezvous was closed by another node."
        assert (b.records()[-1]["charged"], others["charged"], others["round"]) == (1, 0, 2)


def test_restarts_spent_before_count_for_a_new_runner(tmp_path: Path) -> None:
    script = write_script(tmp_path, "raise ValueError('no')\n")
    with Attempt(tmp_path, nproc_per_node=1, max_restarts=2, script=script) as attempt:
        (runner,) = attempt.start("node-a", spent=2)
        last = runner.finish()
    assert "(2 of 2 spent)" in last["reason"]
    assert (last["charged"], last["round"]) == (2, 1)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"script": "/no/such/train.py"}, "The script /no/such/train.py does not exist on node-a."),
        ({"script": "/tmp"}, "The script /tmp on node-a is not a file."),
        ({"workdir": "/no/such/folder"}, "The workdir /no/such/folder is not a folder on node-a."),
        ({"rdzv_conf": {"join_timout": "3"}}, "'join_timout'"),
        (
            {"rdzv_conf": {"join_timeout": "1"}, "nnodes": "2"},
            "No round formed within 1 s (join_timeout): node-b",
        ),
    ],
)
def test_what_cannot_start_says_why(tmp_path: Path, spec: dict[str, object], says: str) -> None:
    with Attempt(tmp_path, **spec) as attempt:
        (runner,) = attempt.start("node-a", nodes=("node-a", "node-b") if "nnodes" in spec else ("node-a",))
        last = runner.finish()
    assert last["outcome"] == "failed"
    assert says in last["reason"]


def test_an_interpreter_without_a_working_torch_is_named(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libtorch.so is not there')\n")
    with Attempt(tmp_path) as attempt:
        (runner,) = attempt.start("node-a", env={"PYTHONPATH": f"{tmp_path}{os.pathsep}"})
        last = runner.finish()
    assert last["outcome"] == "failed"
    assert "torch cannot be used by the interpreter" in last["reason"]
    assert "libtorch.so is not there" in last["reason"]
