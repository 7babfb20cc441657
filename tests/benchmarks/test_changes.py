"""The benchmark of ours alone: launches, and nodes lost, added and let go. No time is judged here."""

from __future__ import annotations

import json

from tests.system.test_benchmark import FIELDS, bench

CASES = ["node-loss", "scale-up", "scale-down"]


def test_a_launch_is_one_line_and_so_is_each_change_of_nodes_that_cost_nobody_a_failure_restart() -> None:
    done = bench("--case", ",".join(["launch", *CASES]), "-n", "1", "--against", "none")
    launch, *lines = (json.loads(text) for text in done.stdout.splitlines())
    assert [line["case"] for line in lines] == CASES, done.stderr
    assert list(launch) == FIELDS
    assert (launch["case"], launch["kills"], launch["phases"]) == ("launch", 0, {})
    assert launch["ours_s"] > 0
    assert (launch["torchrun_s"], launch["best_torchrun_s"], launch["ft_launcher_s"]) == (None, None, None)
    for line in lines:
        assert list(line) == FIELDS
        assert (line["kills"], line["hangs"], line["failure_restarts_per_kill"]) == (1, 0, 0)
        assert line["ours_s"] > 0
