"""torchrun's fields at the API: taken as they are, refused with the reason, never left out without a word."""

from __future__ import annotations

from typing import Any

import pytest

from agents.wire.torchrun import REFUSED
from tests.webapp.api_client import Api
from webapp.jobs.models import Job
from webapp.jobs.specs import spec_of

OPTIONS: dict[str, Any] = {
    "nproc_per_node": "auto",
    "no_python": True,
    "start": "exec",
    "start_method": "fork",
    "role": "trainer",
    "exit_barrier_timeout": 300.0,
    "signals_to_handle": "SIGTERM,SIGUSR1",
    "event_log_handler": "console",
    "redirects": "3",
    "tee": "0:3",
    "local_ranks_filter": "0",
    "log_line_prefix_template": "[${rank}] ",
    "duplicate_stdout_filters": ["loss"],
    "duplicate_stderr_filters": ["Error"],
    "virtual_local_rank": True,
    "numa_binding": "node",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_flag_that_a_job_cannot_have_is_refused_with_the_reason(name: str, operator: Api) -> None:
    answer = operator.post("/api/jobs", {"script": "/srv/train.py", name: "x"})
    assert answer.status == 422
    assert [fault["where"] for fault in answer.body["faults"]] == [name]
    assert answer.body["faults"][0]["message"] == f"A job has no {name}. {REFUSED[name]}"
    assert not Job.objects.exists()


def test_options_of_torchrun_are_kept_and_shown(operator: Api) -> None:
    answer = operator.post("/api/jobs", {"script": "/srv/train", **OPTIONS})
    assert answer.status == 201, answer.body
    shown = operator.get(f"/api/jobs/{answer.body['id']}").body["spec"]
    assert {name: shown[name] for name in OPTIONS} == OPTIONS
    spec = spec_of(Job.objects.get())
    assert (spec.tee, spec.duplicate_stdout_filters) == ("0:3", ("loss",))


def test_a_wrong_option_is_named_with_what_to_write(operator: Api) -> None:
    answer = operator.post("/api/jobs", {"script": "/srv/train.py", "tee": "7"})
    assert answer.status == 422
    assert answer.body["where"] == "tee"
    assert "3 for both" in answer.body["what"]


@pytest.mark.parametrize(("given", "kept"), [(4, 4), ("4", 4), ("gpu", "gpu")])
def test_the_number_of_workers_may_be_a_number_or_a_word(
    given: int | str, kept: int | str, operator: Api
) -> None:
    answer = operator.post("/api/jobs", {"script": "/srv/train.py", "nproc_per_node": given})
    assert answer.body["spec"]["nproc_per_node"] == kept
