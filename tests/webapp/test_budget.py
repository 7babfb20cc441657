"""What may still be spent on failures is said truly, and what was spent is told with its causes."""

from __future__ import annotations

import pytest

from tests.webapp.api_client import Api
from tests.webapp.factories import add_round, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.jobs.budget import say_budget
from webapp.jobs.models import Round
from webapp.jobs.schemas import NodeBudget, RestartsOut


def restarts(limit: int, **charged: int) -> RestartsOut:
    by_node = {
        name.replace("_", "-"): NodeBudget(charged=spent, remaining=limit - spent, torch_counter=spent)
        for name, spent in charged.items()
    }
    return RestartsOut(
        failure=sum(charged.values()),
        membership=0,
        max_restarts=limit,
        remaining=min(each.remaining for each in by_node.values()),
        by_node=by_node,
    )


@pytest.mark.parametrize(
    ("seen", "is_over", "says"),
    [
        (
            restarts(0, node_1=0),
            False,
            "No failure restart is allowed (max_restarts 0): the first failure ends the job.",
        ),
        (restarts(5, node_1=0, node_2=0), False, "Nothing is spent: each node may fail 5 times."),
        (
            restarts(5, node_1=0, node_2=2),
            False,
            "node-2 has spent 2 of 5. The next 3 failures are survived, wherever they are.",
        ),
        (
            restarts(3, node_1=1, node_2=2),
            False,
            "node-1 has spent 1 of 3 and node-2 has spent 2 of 3. "
            "The next failure is survived, wherever it is.",
        ),
        (
            restarts(1, node_1=0, node_2=1),
            False,
            "node-2 has spent 1 of 1. The next failure on node-2 ends the job.",
        ),
        (restarts(2, node_1=1), True, "node-1 has spent 1 of 2."),
        (restarts(2, node_1=0), True, "No failure restart was spent."),
    ],
)
def test_it_is_one_true_sentence(seen: RestartsOut, is_over: bool, says: str) -> None:
    assert say_budget(seen, is_over) == says


@pytest.mark.django_db
def test_a_job_tells_its_headline_its_budget_and_the_last_causes(operator: Api, anna: Account) -> None:
    make_node("node-1")
    job = make_running_job(anna, ["node-1"], max_restarts=9)
    attempt = job.attempts.get()
    for number in range(2, 9):
        add_round(attempt, ["node-1"])
        Round.objects.filter(attempt=attempt, number=number).update(
            charged="node-1", why=f"Rank 0 on node-1 exited with code {number}"
        )
    body = operator.get(f"/api/jobs/{job.id}").body
    assert body["headline"] == {"sentence": body["state_reason"], "since": body["state_since"]}
    budget = body["budget"]
    assert budget["sentence"] == (
        "node-1 has spent 7 of 9. The next 2 failures are survived, wherever they are."
    )
    assert budget["survives"] == body["restarts"]["remaining"] == 2
    assert [cause["round"] for cause in budget["last_causes"]] == [8, 7, 6, 5, 4]
    assert budget["last_causes"][0]["sentence"] == "Rank 0 on node-1 exited with code 8"
    assert {cause["node"] for cause in budget["last_causes"]} == {"node-1"}
    # torch has counted nothing on that node, as far as its runner has told.
    assert budget["torch_differs"].startswith("torch counts on each node for itself")
