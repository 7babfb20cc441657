"""Nodes are lost, added and let go by the benchmark too. What it measures is not judged here."""

from __future__ import annotations

import json

from tests.system.test_benchmark import FIELDS, bench

CASES = ["node-loss", "scale-up", "scale-down"]


def test_each_change_of_nodes_is_one_line_that_cost_nobody_a_failure_restart() -> None:
    done = bench("--case", ",".join(CASES), "-n", "1", "--against", "none")
    lines = [json.loads(text) for text in done.stdout.splitlines()]
    assert [line["case"] for line in lines] == CASES, done.stderr
    for line in lines:
        assert list(line) == FIELDS
        assert (line["kills"], line["hangs"], line["failure_restarts_per_kill"]) == (1, 0, 0)
        assert line["ours_s"] > 0
