"""Which words of ``regroup run`` are whose."""

from __future__ import annotations

import pytest
import typer.main

from agents.cli.commands import app
from agents.cli.line import OWN, split_line, variables_for

LINES = [
    ("train.py --lr 1", "", "train.py --lr 1"),
    ("--nproc-per-node 2 train.py", "", "--nproc-per-node 2 train.py"),
    ("--nproc_per_node=2 --detach train.py", "--detach", "--nproc_per_node=2 train.py"),
    ("--nnodes 1:4 --name big train.py --name script", "--name big", "--nnodes 1:4 train.py --name script"),
    ("--standalone --json train.py --json", "--json", "--standalone train.py --json"),
    ("-m --ranks=0 pkg.train --help", "--ranks=0", "-m pkg.train --help"),
    ("-t 3 -r2 --set spares=1 train.py", "--set spares=1", "-t 3 -r2 train.py"),
    ("--no_python --stand --env A=1 ./prog -x", "--env A=1", "--no_python --stand ./prog -x"),
    ("--env A --env B=2 -- train.py", "--env A --env B=2", "-- train.py"),
    ("--help", "--help", ""),
    ("--nnodes", "", "--nnodes"),
]


@pytest.mark.parametrize(("typed", "own", "torchrun"), LINES)
def test_our_flags_may_stand_anywhere_before_the_script(typed: str, own: str, torchrun: str) -> None:
    line = split_line(typed.split())
    assert (" ".join(line.own), " ".join(line.torchrun)) == (own, torchrun)


def test_our_flags_are_those_that_the_command_has() -> None:
    command = typer.main.get_command(app).commands["run"]  # type: ignore[attr-defined]
    declared = {
        name: not option.is_flag
        for option in command.params
        if option.param_type_name == "option"
        for name in option.opts
        if name.startswith("--")
    }
    assert {**declared, "--help": False} == OWN


def test_a_job_gets_what_is_meant_for_workers_and_what_is_named() -> None:
    shell = {"NCCL_DEBUG": "INFO", "OMP_NUM_THREADS": "4", "HOME": "/root", "API_KEY": "x", "LR": "1"}
    assert variables_for(["LR", "SEED=1=2"], shell) == {
        "NCCL_DEBUG": "INFO",
        "OMP_NUM_THREADS": "4",
        "LR": "1",
        "SEED": "1=2",
    }
