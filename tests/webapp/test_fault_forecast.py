"""What a fault will do is told from where the job stands, and what is not known is said to be so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from webapp.jobs.fault_forecast import Aim, Situation, forecast_fault

NOW = Situation(
    world_size=4,
    nodes=2,
    on_node=2,
    min_nodes=1,
    max_restarts=3,
    failure_restarts=1,
    charged={"node-1": 1, "node-2": 0},
    step=1234,
    checkpoint_step=1200,
    earlier_s=(1.1, 1.3, 1.2),
)
KILL = Aim(kind="kill_worker", ranks=(1,), nodes=("node-1",))


def test_a_kill_is_told_with_its_costs_and_how_long_it_took_before() -> None:
    told = forecast_fault(KILL, replace(NOW, nodes=1))
    assert told.sentence == (
        "Same-node restart: world size 4 → 4, failure restarts 1 → 2 of 3, about 34 steps redone since "
        "checkpoint 1,200, back in about 1.2 s (median of 3)."
    )
    assert (told.world_size_after, told.failure_restarts_after) == (4, 2)
    assert (told.steps_redone, told.seconds) == (34, 1.2)
    assert "3 times" in told.based_on


def test_whose_budget_is_spent_is_said_where_there_are_several() -> None:
    assert "failure restarts of node-1 1 → 2 of 3" in forecast_fault(KILL, NOW).sentence
    both = replace(KILL, ranks=(1, 3), nodes=("node-1", "node-2"))
    assert "failure restarts of whoever fails first" in forecast_fault(both, NOW).sentence


def test_without_a_history_nothing_is_invented() -> None:
    told = forecast_fault(KILL, replace(NOW, earlier_s=()))
    assert told.seconds is None
    assert "how long it takes is not known, as this job has not come back from it before" in told.sentence
    assert told.based_on.startswith("Nothing:")


@pytest.mark.parametrize(
    ("step", "checkpoint", "says"),
    [
        (None, 1200, "how many steps are redone is not known, as the script reports none"),
        (40, None, "no checkpoint has been reported, so that training may begin again from step 0"),
    ],
)
def test_steps_that_are_not_known_are_said_to_be_so(
    step: int | None, checkpoint: int | None, says: str
) -> None:
    told = forecast_fault(KILL, replace(NOW, step=step, checkpoint_step=checkpoint))
    assert told.steps_redone is None
    assert says in told.sentence


def test_beyond_the_budget_the_job_fails() -> None:
    told = forecast_fault(KILL, replace(NOW, charged={"node-1": 3}))
    assert told.sentence == (
        "The job fails: node-1 has no failure restart left of 3, so that all 4 workers end."
    )
    assert (told.world_size_after, told.failure_restarts_after, told.seconds) == (0, 1, None)
    none = forecast_fault(KILL, replace(NOW, max_restarts=0, charged={}))
    assert "no failure restart is allowed (max_restarts 0)" in none.sentence


def test_of_several_the_first_to_fail_may_be_the_one_with_nothing_left() -> None:
    both = replace(KILL, ranks=(1, 3), nodes=("node-1", "node-2"))
    told = forecast_fault(both, replace(NOW, charged={"node-2": 3}))
    assert "Where node-2 is the first to fail, the job fails: it has none left." in told.sentence
    assert told.world_size_after == 4


def test_nothing_restarts_while_a_worker_stands_still_or_is_slowed() -> None:
    frozen = forecast_fault(replace(KILL, kind="freeze_worker", seconds=20.0), NOW)
    assert frozen.sentence == (
        "Nothing restarts: rank 1 stands still for 20 s and goes on by itself; the other 3 ranks wait at "
        "each step. World size stays 4, no failure restart is spent."
    )
    assert (frozen.failure_restarts_after, frozen.steps_redone, frozen.seconds) == (1, 0, 20.0)
    watched = forecast_fault(replace(KILL, kind="freeze_worker"), replace(NOW, restarts_stalled=True))
    assert "policy (on_stall) restarts it before" in watched.sentence
    slowed = forecast_fault(replace(KILL, kind="slow_worker", share=0.25), NOW)
    assert "rank 1 runs 25% of the time for 30 s" in slowed.sentence
    stopped = forecast_fault(replace(KILL, signal="SIGSTOP"), NOW)
    assert "stands still until somebody sends SIGCONT" in stopped.sentence
    assert stopped.seconds is None


def test_a_killed_runner_is_a_membership_restart_unless_the_nodes_are_fixed() -> None:
    aim = Aim(kind="kill_runner", nodes=("node-2",))
    told = forecast_fault(aim, NOW)
    assert "the runner on node-2 dies with its 2 workers and is started again" in told.sentence
    assert "meanwhile 1 node may go on without it" in told.sentence
    assert "no failure restart is spent" in told.sentence
    assert "meanwhile the job waits for it" in forecast_fault(aim, replace(NOW, min_nodes=2)).sentence
    fixed = forecast_fault(aim, replace(NOW, is_fixed=True))
    assert fixed.sentence.startswith("The attempt ends")


def test_training_goes_on_without_the_node_agent_and_without_the_hub() -> None:
    killed = forecast_fault(Aim(kind="kill_agent", nodes=("node-2",)), replace(NOW, earlier_s=()))
    assert killed.sentence.startswith("Training goes on: node-2 is not heard until its node agent is started")
    assert (killed.world_size_after, killed.seconds) == (4, None)
    cut = forecast_fault(Aim(kind="cut_node", nodes=("node-2",), seconds=15.0), NOW)
    assert "node-2 is not heard for 15 s" in cut.sentence
    assert cut.seconds == 15.0
