"""Records of a made-up runner, for tests that fold them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from agents.wire.lifecycle import ORDER, Phase, RunnerState, fold
from agents.wire.runner_events import (
    Activity,
    AnyRunnerEvent,
    CheckpointBegun,
    CheckpointSaved,
    Progress,
    RankProgress,
    Reached,
    RendezvousBegun,
    RendezvousCompleted,
    RendezvousJoined,
    RestartBegun,
    Resumed,
    RunnerFinished,
    RunnerStarted,
    TorchMetric,
    TorchMetrics,
    WorkerExited,
    WorkerRef,
    WorkersFinished,
    WorkersReached,
    WorkersStarted,
    WorkersStarting,
)

NODE, OTHER = "node-1", "node-2"
BEGAN = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def worker(rank: int, round_number: int) -> WorkerRef:
    return WorkerRef(rank=rank, local_rank=rank, pid=1000 * round_number + rank, start_time=70 + round_number)


_OF_ITS_OWN: dict[type[AnyRunnerEvent], dict[str, Any]] = {
    RunnerStarted: {
        "pid": 7,
        "start_time": 7,
        "boot_id": "b",
        "python": "/usr/bin/python3",
        "torch_version": "2.13.0",
        "endpoint": "127.0.0.1:29400",
        "hosts_store": True,
    },
    RendezvousBegun: {"cause": "start"},
    RendezvousJoined: {"joined": (NODE,), "expected": (NODE, OTHER), "min_nodes": 1, "max_nodes": 2},
    RendezvousCompleted: {"world_size": 4, "group_rank": 0, "nodes": (NODE, OTHER), "cause": "start"},
    WorkersStarting: {"ranks": (0, 1)},
    Activity: {"last_output_at": BEGAN},
    TorchMetrics: {
        "metrics": (TorchMetric(group="torchelastic", name="x.duration.ms", count=2, sum=9, min=4, max=5),)
    },
    CheckpointBegun: {"rank": 0, "step": 10},
    CheckpointSaved: {"rank": 0, "step": 10, "path": "/ckpt/10.pt"},
    Resumed: {"rank": 0, "step": 10, "path": "/ckpt/10.pt"},
    WorkersReached: {"reached": (Reached(rank=0, what="group_up", at=BEGAN),)},
    WorkersFinished: {},
    RestartBegun: {"cause": "failure", "torch_counter": 1},
    RunnerFinished: {"outcome": "failed", "reason": "The workers failed."},
}


def record(kind: type[AnyRunnerEvent], seq: int, round_number: int = 1, **fields: Any) -> AnyRunnerEvent:
    """The record of that kind, ``seq`` seconds after the beginning; any field may be given."""
    values: dict[str, Any] = {
        "source": f"run/a1/{NODE}/1",
        "seq": seq,
        "at": BEGAN + timedelta(seconds=seq),
        "attempt": "a1",
        "node": NODE,
        **_OF_ITS_OWN.get(kind, {}),
    }
    if "round" in kind.__dataclass_fields__:
        values["round"] = round_number
    if kind is WorkersStarted:
        values["workers"] = (worker(0, round_number), worker(1, round_number))
    if kind is WorkerExited:
        values |= {
            "worker": worker(1, round_number),
            "role": "cause",
            "said": "killed by SIGKILL",
            "signal": "SIGKILL",
        }
    if kind is Progress:
        values["ranks"] = (RankProgress(rank=0, step=seq, total=500, metrics={"loss": 1.5}),)
    event: AnyRunnerEvent = kind(**values | fields)
    return event


def history(*kinds: type[AnyRunnerEvent]) -> list[AnyRunnerEvent]:
    """Records of these kinds, one after the other; each completed rendezvous begins the next round."""
    round_number, events = 0, []
    for seq, kind in enumerate(kinds, start=1):
        round_number += kind is RendezvousCompleted
        events.append(record(kind, seq, round_number))
    return events


UP = (RunnerStarted, RendezvousBegun, RendezvousJoined, RendezvousCompleted, WorkersStarting, WorkersStarted)
RESTART = (WorkerExited, RestartBegun, *UP[1:])


def fold_all(events: list[AnyRunnerEvent], state: RunnerState | None = None) -> RunnerState:
    state = state or RunnerState()
    for event in events:
        state = fold(state, event, NODE)
    return state


@st.composite
def legal_histories(draw: st.DrawFn, longest: int = 40) -> list[AnyRunnerEvent]:
    """A walk through the order table: at each step any kind that the phase allows."""
    state, events, round_number = RunnerState(), [], 0
    for seq in range(1, draw(st.integers(0, longest)) + 1):
        allowed = [kind for kind, phases in ORDER.items() if state.phase in phases]
        if not allowed:
            break
        # An end cuts the walk short, so that it is not picked as often as the others.
        going_on = [kind for kind in allowed if kind is not RunnerFinished]
        kind = draw(st.sampled_from(going_on * 8 + [RunnerFinished]))
        round_number += kind is RendezvousCompleted
        events.append(record(kind, seq, round_number))
        state = fold(state, events[-1], NODE)
    return events


def is_over(state: RunnerState) -> bool:
    return state.phase is Phase.ENDED
