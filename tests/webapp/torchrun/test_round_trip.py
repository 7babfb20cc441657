"""What is written as a torchrun line is read back as the same job."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.wire.spec import JobSpec, SpecError, check_spec
from webapp.torchrun.flags import read_list
from webapp.torchrun.reader import parse
from webapp.torchrun.writer import to_torchrun

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
SAID = TEXT.filter(bool)
WORD = st.text("abcxyz019_-./", min_size=1, max_size=10)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not name.startswith("PET_")
)
FILTERS = st.lists(SAID, max_size=3).map(tuple)
PYTHONS = st.sampled_from(
    [None, "/opt/venv/bin/python", "/opt/x y/python3.11", "python3.11", "python3", "/opt/own", "env:vision"]
)


def nnodes() -> st.SearchStrategy[str]:
    return st.one_of(
        st.integers(1, 99).map(str),
        st.tuples(st.integers(1, 9), st.integers(0, 9)).map(lambda pair: f"{pair[0]}:{sum(pair)}"),
    )


def specs() -> st.SearchStrategy[JobSpec]:
    fields: dict[str, st.SearchStrategy[Any]] = {
        "nnodes": nnodes(),
        "nproc_per_node": st.one_of(st.integers(1, 64), st.sampled_from(["auto", "gpu", "cpu"])),
        "max_restarts": st.integers(0, 99),
        "rdzv_backend": st.sampled_from(["c10d", "static", "etcd", "etcd-v3"]),
        "rdzv_endpoint": st.sampled_from(["", "node-1", "node-1:29400", "[::1]:4000"]),
        "rdzv_conf": st.sampled_from(
            [{}, {"join_timeout": "60"}, {"join_timeout": "60", "read_timeout": "9"}]
        ),
        "standalone": st.booleans(),
        "args": st.lists(
            st.one_of(TEXT, st.sampled_from(["--", "-m", "--nnodes=3", "${local_rank}", "$X"]))
        ).map(tuple),
        "env": st.dictionaries(NAMES, TEXT, max_size=3),
        "workdir": st.one_of(st.none(), TEXT.map(lambda text: f"/{text}")),
        "python": PYTHONS,
        "start_method": st.sampled_from(["spawn", "fork", "forkserver"]),
        "role": TEXT,
        "monitor_interval": st.floats(0.001, 1000),
        "shutdown_timeout": st.integers(0, 999).map(float),
        "signals_to_handle": st.sampled_from([JobSpec().signals_to_handle, "SIGTERM", "SIGTERM,SIGUSR1"]),
        "event_log_handler": st.sampled_from(["null", "console", "dynamic_rendezvous"]),
        "redirects": st.sampled_from(["0", "3", "0:3,1:2"]),
        "tee": st.sampled_from(["0", "3", "0:3,1:2"]),
        "local_ranks_filter": st.sampled_from(["", "0", "0,1"]),
        "log_line_prefix_template": st.one_of(st.none(), TEXT),
        "duplicate_stdout_filters": FILTERS,
        "duplicate_stderr_filters": FILTERS,
        "virtual_local_rank": st.booleans(),
    }
    programs: st.SearchStrategy[dict[str, Any]] = st.one_of(
        st.fixed_dictionaries({"script": TEXT.map(lambda text: f"/{text}")}),
        st.fixed_dictionaries({"module": WORD}),
        st.fixed_dictionaries({"script": WORD, "code": st.just("0f" * 32)}),
        st.fixed_dictionaries({"script": WORD, "no_python": st.just(True), "start": st.just("exec")}),
        st.fixed_dictionaries(
            {
                "script": WORD.map(lambda name: f"/{name}"),
                "numa_binding": st.just("node"),
                "start": st.just("exec"),
            }
        ),
    )
    optional = st.fixed_dictionaries({}, optional=fields)
    return st.builds(lambda one, other: JobSpec(**one, **other), optional, programs)


def is_said(filters: tuple[str, ...]) -> bool:
    """A filter that begins with a comma runs into the one before it."""
    return read_list(",".join(text.replace(",", ",,") for text in filters)) == [*filters] or not filters


@settings(max_examples=100, deadline=None)
@given(specs())
def test_a_written_line_is_read_back_as_the_same_spec(spec: JobSpec) -> None:
    try:
        check_spec(spec)
    except SpecError:
        assume(False)
    assume(is_said(spec.duplicate_stdout_filters) and is_said(spec.duplicate_stderr_filters))
    written = to_torchrun(spec)
    reading = parse(written.command)
    assert reading.problems == ()
    assert reading.spec == spec


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("spares", 1, "spares is 1, which torchrun does not have."),
        ("time_limit", "2h", "time_limit is 2h, which torchrun does not have."),
        ("start", "exec", "start is exec, which torchrun does not have."),
        ("preload", (), "preload is empty, which torchrun does not have."),
        ("preload", ("torch", "my_model"), "preload is torch, my_model, which torchrun does not have."),
        ("shutdown_timeout", 2.5, "shutdown_timeout is 2.5, which no flag of torchrun can say."),
        (
            "rdzv_conf",
            {"password": "a,b"},
            "rdzv_conf is {'password': 'a,b'}, which no flag of torchrun can say.",
        ),
        ("env", {"PET_NNODES": "4"}, "env has PET_NNODES, which torchrun would read itself. It is left out."),
        ("env", {"REGROUP_CODE": "x"}, "env has REGROUP_CODE, which is read as code in a line."),
        ("env", {"a.b": "4"}, "env has 'a.b', and no shell takes such a name."),
        ("duplicate_stdout_filters", ("a", ",b"), "which no flag of torchrun can say."),
    ],
)
def test_what_torchrun_cannot_say_is_said_in_a_note(field: str, value: Any, says: str) -> None:
    spec = replace(JobSpec(script="/srv/train.py"), **{field: value})
    written = to_torchrun(spec)
    assert any(says in note for note in written.notes)
    assert parse(written.command).spec == JobSpec(script="/srv/train.py")


def test_uploaded_code_is_named_in_the_line_and_read_back() -> None:
    spec = JobSpec(script="train.py", code="0f" * 32)
    written = to_torchrun(spec)
    assert written.command == f"REGROUP_CODE={'0f' * 32} torchrun train.py"
    assert "started in a folder with that code" in written.notes[0]
    reading = parse(written.command)
    assert (reading.spec, reading.problems) == (spec, ())
    assert "Regroup reads it itself" in reading.stripped[0].message


def test_several_nodes_without_an_endpoint_are_told_what_torchrun_needs() -> None:
    written = to_torchrun(JobSpec(script="/srv/train.py", nnodes="2:4"), {"labels": {"team": "vision"}})
    assert written.command == "torchrun --nnodes=2:4 --rdzv-backend=c10d /srv/train.py"
    assert written.notes[0] == "labels is {'team': 'vision'}, which torchrun does not have."
    assert "--rdzv-endpoint HOST:PORT" in written.notes[1]


def test_a_long_line_is_written_a_flag_a_line() -> None:
    spec = JobSpec(
        nnodes="2",
        nproc_per_node=8,
        max_restarts=3,
        rdzv_endpoint="node-1:29400",
        script="/srv/a folder/train.py",
        args=("--data", "/data"),
        env={"A": "1"},
        workdir="/srv",
        python="/opt/venv/bin/python",
    )
    assert to_torchrun(spec).command == (
        "cd /srv && A=1 /opt/venv/bin/python -m torch.distributed.run \\\n"
        "  --nnodes=2 \\\n  --nproc-per-node=8 \\\n  --rdzv-backend=c10d \\\n  "
        "--rdzv-endpoint=node-1:29400 \\\n"
        "  --max-restarts=3 \\\n  '/srv/a folder/train.py' --data /data"
    )
