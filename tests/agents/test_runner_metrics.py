"""What a real runner records of metrics: from a script that only prints, and from torch's own agent."""

from __future__ import annotations

from pathlib import Path

from agents.runner.put_metrics import GATHER_S, PutMetrics
from agents.wire.runner_events import TorchMetric
from tests.agents.runner_harness import Attempt, write_script

PRINTER = """
import os, sys, time
begin = 0 if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" else 100
for step in range(begin, begin + 400):
    print(f"epoch 1 | step {step}/1,000 | loss={1 / (step + 1):.4f}", flush=True)
    if step == begin + 20 and begin == 0 and os.environ["RANK"] == "1":
        sys.exit(7)
    if step == begin + 40 and begin:
        break
    time.sleep(0.02)
"""


def test_a_script_that_only_prints_reports_progress_over_a_restart(tmp_path: Path) -> None:
    patterns = (r"step (?P<step>\d+)/(?P<total>[\d,]+)", r"loss=(?P<loss>[\d.]+)")
    with Attempt(tmp_path, script=write_script(tmp_path, PRINTER), log_metrics=patterns) as attempt:
        (runner,) = attempt.start("node-a")
        last = runner.finish()
    assert last["outcome"] == "succeeded"
    told = {
        number: [one for one in runner.records("progress") if one["round"] == number] for number in (1, 2)
    }
    assert {rank["rank"] for rank in told[1][-1]["ranks"]} == {0, 1}
    assert all(rank["step"] <= 40 and rank["total"] == 1000 for one in told[1] for rank in one["ranks"])
    # The last line of each rank, which was written just before it ended.
    newest = {rank["rank"]: (rank["step"], rank["metrics"]) for rank in told[2][-1]["ranks"]}
    assert newest == {rank: (140, {"loss": 0.0071}) for rank in (0, 1)}
    first = [each for one in runner.records("workers_reached") for each in one["reached"]]
    assert [each["what"] for each in first if each["rank"] == 0].count("first_step") == 2

    put = [each for one in runner.records("torch_metrics") for each in one["metrics"]]
    rounds = [each for each in put if each["name"] == "SimpleElasticAgent._rendezvous.duration.ms"]
    assert sum(each["count"] for each in rounds) == 2
    assert {each["group"] for each in put} == {"torchelastic"}
    assert len(runner.records("torch_metrics")) <= 4, "it is gathered, however often torch's loop turns"


def test_what_is_put_is_gathered_for_half_a_minute() -> None:
    gathered = PutMetrics(begun_at=0.0)
    for value in (3, 1, 5, float("nan"), float("inf")):
        gathered.put("g", "x", value)
    assert gathered.take(GATHER_S - 1) == ()
    metric = TorchMetric(group="g", name="x", count=3, sum=9, min=1, max=5)
    assert gathered.take(GATHER_S) == (metric,)
    assert gathered.take(2 * GATHER_S) == ()
    gathered.put("g", "x", 2)
    assert gathered.take(GATHER_S + 1) == ()
    assert len(gathered.take(GATHER_S + 1, flush=True)) == 1


def test_names_without_end_are_not_gathered() -> None:
    gathered = PutMetrics(begun_at=0.0)
    for number in range(1000):
        gathered.put("g", f"request {number}", 1)
    assert len(gathered.take(0.0, flush=True)) == 100
