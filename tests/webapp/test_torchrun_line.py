"""torchrun's line at the API: read, written, and what a launch means before it is one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from webapp.accounts.models import Account
from webapp.jobs.models import Job

LINE = "cd /srv && A='x y' torchrun --nnodes=2:4 --nproc-per-node=8 --foo train.py --lr 1e-3"


def test_a_pasted_line_is_a_spec_that_can_be_launched(operator: Api) -> None:
    body = operator.post("/api/torchrun/parse", {"command": LINE}).body
    assert [(one["flag"], one["position"], one["length"]) for one in body["problems"]] == [
        ("--foo", LINE.index("--foo"), 5)
    ]
    spec = body["spec"]
    assert (spec["nnodes"], spec["nproc_per_node"], spec["workdir"], spec["env"]) == (
        "2:4",
        8,
        "/srv",
        {"A": "x y"},
    )
    assert operator.post("/api/jobs", spec).status == 201
    job = Job.objects.get()
    line = operator.get(f"/api/jobs/{job.id}/torchrun").body["command"]
    again = operator.post("/api/torchrun/parse", {"command": line}).body
    assert (again["problems"], again["spec"]) == ([], spec)


def test_relative_paths_begin_where_the_line_is_typed(operator: Api) -> None:
    body = operator.post(
        "/api/torchrun/parse", {"command": "torchrun train.py", "workdir": "/home/anna"}
    ).body
    assert (body["problems"], body["spec"]["workdir"]) == ([], "/home/anna")


def test_a_text_that_is_too_long_is_refused(operator: Api) -> None:
    answer = operator.post("/api/torchrun/parse", {"command": "x" * 20_001})
    assert (answer.status, answer.body["where"]) == (422, "command")


def test_what_the_line_of_a_job_cannot_say_is_told_and_secrets_are_not(operator: Api, anna: Account) -> None:
    job = make_job(anna, spares=1, env={"API_KEY": "k-1"}, rdzv_conf={"join_timeout": "60"})
    body = operator.get(f"/api/jobs/{job.id}/torchrun").body
    assert "k-1" not in str(body)
    assert body["notes"][0].startswith("env has API_KEY, whose value is masked here.")
    assert "spares is 1, which torchrun does not have." in body["notes"]


def test_the_form_is_written_as_a_line(operator: Api) -> None:
    form = {"script": "/srv/train.py", "nnodes": "2", "rdzv_endpoint": "node-1:4000", "labels": {"team": "a"}}
    body = operator.post("/api/torchrun/write", form).body
    assert body["command"] == (
        "torchrun --nnodes=2 --rdzv-backend=c10d --rdzv-endpoint=node-1:4000 /srv/train.py"
    )
    assert body["notes"] == ["labels is {'team': 'a'}, which torchrun does not have."]


SENTENCES: list[tuple[dict[str, Any], str]] = [
    (
        {"nnodes": "2:4", "nproc_per_node": 8, "max_restarts": 5},
        "Runs on 2 to 4 nodes, as many as are free now, with 8 workers each: 16 to 32 ranks; "
        "survives losing 2 "
        "nodes; up to 5 failure restarts per node.",
    ),
    (
        {"nnodes": "1:3", "nodes": 2, "nproc_per_node": 2, "max_restarts": 1},
        "Runs on 1 to 3 nodes, 2 wanted now, with 2 workers each: 4 ranks; survives losing 1 "
        "node; up to 1 failure "
        "restart per node.",
    ),
    (
        {"nnodes": "2", "nproc_per_node": "gpu", "spares": 1},
        "Runs on 2 nodes with a worker for each GPU; a lost node is waited for; 1 more node "
        "stands by to take the "
        "place of a lost one; the first failure of a worker ends it.",
    ),
    (
        {},
        "Runs on 1 node with 1 worker each: 1 rank; a lost node ends the attempt; the first "
        "failure of a worker ends it.",
    ),
    ({"nnodes": "3:2"}, "nnodes is '3:2': the minimum 3 is above the maximum 2. Write 2:3."),
]


@pytest.mark.parametrize(("fields", "sentence"), SENTENCES)
def test_the_sentence_says_nodes_ranks_losses_and_failures(
    operator: Api, fields: dict[str, Any], sentence: str
) -> None:
    body = operator.post("/api/jobs/check", {"script": "/srv/train.py", **fields}).body
    assert body["sentence"] == sentence


WARNED: list[tuple[dict[str, Any], str, str]] = [
    ({}, "max_restarts", "the first failure of a worker ends the job"),
    ({"nnodes": "3"}, "nnodes", "the job cannot shrink"),
    ({"args": ["--lr", "1"]}, "args", "No folder for checkpoints"),
    ({"nnodes": "1:2"}, "rdzv_endpoint", "The node that keeps the store may be lost too"),
    ({"nnodes": "1:2", "max_relaunches": 0}, "rdzv_endpoint", "max_relaunches is 0"),
    ({"nnodes": "2", "rdzv_endpoint": "127.0.0.1:4000"}, "rdzv_endpoint", "reach only themselves"),
    ({"nnodes": "2", "env": {"NCCL_SOCKET_IFNAME": "lo"}}, "env", "no other node is reached"),
    ({"nnodes": "2", "interface": "lo"}, "interface", "no other node is reached"),
    ({"interface": "ib0", "env": {"GLOO_SOCKET_IFNAME": "eth0"}}, "interface", "wins over interface"),
    ({"nproc_per_node": 4, "env": {"CUDA_VISIBLE_DEVICES": "0,1"}}, "nproc_per_node", "2 GPUs to 4 workers"),
]


@pytest.mark.parametrize(("fields", "where", "says"), WARNED)
def test_practice_warns_with_what_to_do(operator: Api, fields: dict[str, Any], where: str, says: str) -> None:
    found = operator.post("/api/jobs/check", {"script": "/srv/train.py", **fields}).body["warnings"]
    told = [one for one in found if one["field"] == where and says in one["message"]]
    assert told, found
    assert told[0]["what_to_do"].endswith(".")


def test_what_is_as_it_should_be_warns_of_nothing(operator: Api) -> None:
    form = {
        "script": "/srv/train.py",
        "args": ["--checkpoint-dir=/shared/x"],
        "max_restarts": 3,
        "nnodes": "1:2",
        "rdzv_backend": "etcd",
        "rdzv_endpoint": "etcd-1",
    }
    body = operator.post("/api/jobs/check", form).body
    assert (body["warnings"], body["faults"]) == ([], [])


def test_faults_are_named_before_anything_is_launched(operator: Api) -> None:
    make_node("node-1", slots=2)
    body = operator.post("/api/jobs/check", {"script": "/srv/train.py", "nproc_per_node": 8}).body
    assert [fault["where"] for fault in body["faults"]] == ["nproc_per_node"]
    assert body["sentence"].startswith("Runs on 1 node")
    assert not Job.objects.exists()


def test_the_settings_that_hold_are_told_before_and_after(operator: Api) -> None:
    form = {"script": "/srv/train.py", "nproc_per_node": 2, "rdzv_conf": {"join_timeout": "60"}}
    before = operator.post("/api/jobs/check", form).body["effective"]
    told = {one["name"]: one["value"] for one in before}
    assert (told["OMP_NUM_THREADS"], told["join_timeout"], told["shutdown_timeout"]) == ("1", "60 s", "30 s")
    launched = operator.post("/api/jobs", form).body["id"]
    assert operator.get(f"/api/jobs/{launched}/check").body["effective"] == before
