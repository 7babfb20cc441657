"""What a batch script or ``srun`` says to SLURM, as a job has it: its limit, its name, its nodes."""

from __future__ import annotations

import pytest

from webapp.torchrun.reader import parse
from webapp.torchrun.slurm import read_time

BATCH = """#!/bin/bash
#SBATCH --job-name="big run"  # as on the board
#SBATCH --time=1-12:30:00
#SBATCH -N 2-4
#SBATCH --output=logs/%j.out
srun torchrun --nproc-per-node 8 /srv/train.py --time 5
"""


def said(text: str) -> dict[str, str]:
    return {one.flag: one.message for one in parse(text).stripped}


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("90", "1h30m"),
        ("30:30", "30m30s"),
        ("02:00:00", "2h"),
        ("1-12", "1d12h"),
        ("2-00:30", "2d30m"),
        ("1-02:03:04", "1d2h3m4s"),
        ("0", ""),
        ("UNLIMITED", ""),
        ("soon", None),
        ("1:2:3:4", None),
    ],
)
def test_slurms_times_are_read_as_slurm_reads_them(text: str, limit: str | None) -> None:
    assert read_time(text) == limit


def test_a_batch_script_gives_the_job_its_limit_its_name_and_its_nodes_each_with_a_note() -> None:
    read = parse(BATCH)
    assert read.problems == ()
    assert (read.name, read.spec.time_limit, read.spec.nnodes) == ("big run", "1d12h30m", "2:4")
    assert read.spec.args == ("--time", "5")
    told = said(BATCH)
    assert told["--time=1-12:30:00"] == "time_limit is 1d12h30m, as it says. Waiting does not count."
    assert told["-N"] == "nnodes is 2:4, as it says: torchrun was told no number."
    note = next(one for one in read.stripped if one.flag.startswith("--job-name"))
    assert (BATCH[note.position :].startswith("--job-name"), "big run" in note.message) == (True, True)


@pytest.mark.parametrize("option", ["-t 30", "-t30", "--time 30", "--time=30"])
def test_what_stands_before_torchrun_goes_before_the_lines_for_sbatch(option: str) -> None:
    read = parse(f"#SBATCH --time=2:00:00\nsrun {option} -J mine torchrun -t 3 /srv/train.py")
    assert (read.spec.time_limit, read.name, read.spec.tee) == ("30m", "mine", "3")


def test_torchruns_own_number_of_nodes_counts() -> None:
    text = "srun --nodes=4 torchrun --nnodes 2 /srv/train.py"
    assert parse(text).spec.nnodes == "2"
    assert said(text)["--nodes=4"] == "torchrun was told nnodes 2, which counts here."
    assert "--nodes=2" not in said("srun --nodes=2 torchrun --nnodes 2 /srv/train.py")
    assert parse("srun -N 4 torchrun --standalone /srv/train.py").spec.nnodes == "1"


def test_a_time_that_is_none_is_a_problem_at_its_place() -> None:
    text = "sbatch --time=soon --wrap='torchrun /srv/train.py'"
    (problem,) = parse(text).problems
    assert (problem.flag, problem.position) == ("--time=soon", text.index("--time"))
    assert parse("srun --time=0 torchrun /srv/train.py").spec.time_limit is None
