"""The end of a worker is told apart and said in words."""

from __future__ import annotations

import signal

import pytest

from agents.runner.exits import Ending, ended_by, kind_of_failure, known_from, role_of, say
from agents.wire.runner_events import WorkerError

GLOO = WorkerError(
    type="RuntimeError",
    message="[gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:24621",
    file="/home/anna/train.py",
    line=12,
    read_from="stderr",
)
BUG = WorkerError(
    type="ValueError", message="bad learning rate -3", file="/home/anna/train.py", line=12, read_from="stderr"
)
KILLED = -signal.SIGKILL


@pytest.mark.parametrize(
    ("ending", "role", "said"),
    [
        (Ending(code=0), "finished", "exited with code 0"),
        (Ending(code=KILLED), "cause", "killed by SIGKILL"),
        (Ending(code=-11), "cause", "killed by SIGSEGV, a segmentation fault"),
        (Ending(code=-15), "cause", "killed by SIGTERM: somebody other than its runner sent it"),
        (Ending(code=-6), "cause", "killed by SIGABRT, the process aborted itself"),
        (
            Ending(code=-1),
            "cause",
            "killed by SIGHUP: its terminal or session was closed (a script that is to outlive that ignores "
            "SIGHUP)",
        ),
        (
            Ending(code=-12),
            "cause",
            "killed by SIGUSR2: it did not handle the preemption notice (a handler for SIGUSR2 in the script "
            "can save a checkpoint)",
        ),
        (
            Ending(code=143, last_line="terminated"),
            "cause",
            "exited with code 143 (what a shell says for SIGTERM); the last line of its stderr: terminated",
        ),
        (
            Ending(code=139),
            "cause",
            "exited with code 139 (what a shell says for SIGSEGV, a segmentation fault) and wrote nothing to "
            "stderr",
        ),
        (
            Ending(code=134, last_line="double free"),
            "cause",
            "exited with code 134 (what a shell says for SIGABRT, the process aborted itself); the last line "
            "of its stderr: double free",
        ),
        (
            Ending(code=127, last_line="train.sh: 3: pyton: not found"),
            "cause",
            "exited with code 127 (what a shell says of a command that it does not find); the last line of "
            "its stderr: train.sh: 3: pyton: not found",
        ),
        (
            Ending(code=135),
            "cause",
            "exited with code 135 (what a shell says for SIGBUS, a memory access that cannot be served, "
            "often a full /dev/shm) and wrote nothing to stderr",
        ),
        (Ending(code=-15, stopped_by="SIGTERM"), "stopped", "stopped by the runner (SIGTERM)"),
        (Ending(code=0, stopped_by="SIGTERM"), "stopped", "stopped by the runner (SIGTERM)"),
        (Ending(code=KILLED, stopped_by="SIGKILL"), "stopped", "stopped by the runner (SIGKILL)"),
        (
            Ending(code=1, error=BUG),
            "cause",
            "exited with code 1: ValueError: bad learning rate -3 (train.py:12)",
        ),
        (
            Ending(code=1, error=GLOO),
            "peer_lost",
            "lost its connection to another worker and exited with code 1: RuntimeError: "
            "[gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:24621 (train.py:12)",
        ),
        (Ending(code=1, stopped_by="SIGTERM", error=BUG), "stopped", "stopped by the runner (SIGTERM)"),
        (Ending(code=3), "cause", "exited with code 3 and wrote nothing to stderr"),
        (
            Ending(code=KILLED, lost_with="was killed by SIGKILL"),
            "unknown",
            "ended with the fork server, which was killed by SIGKILL",
        ),
        (
            Ending(code=KILLED, stopped_by="SIGTERM", lost_with="ended with code 1"),
            "unknown",
            "ended with the fork server, which ended with code 1",
        ),
        (
            Ending(code=1, last_line="/usr/bin/python3: No module named train"),
            "cause",
            "exited with code 1; the last line of its stderr: /usr/bin/python3: No module named train",
        ),
        (
            Ending(code=137),
            "cause",
            "exited with code 137 (what a shell says for SIGKILL) and wrote nothing to stderr",
        ),
    ],
)
def test_an_ending_has_a_role_and_words(ending: Ending, role: str, said: str) -> None:
    assert (role_of(ending), say(ending)) == (role, said)


@pytest.mark.parametrize(
    "text",
    [
        "[gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:24621",
        "Gloo connectFullMesh failed with [gloo/pair.cc:144] no error",
        "[gloo/transport/tcp/pair.cc:534] Read error [10.0.0.2]:3311: Connection reset by peer",
        "[gloo/transport/tcp/buffer.cc:72] Timed out waiting 20000ms for recv operation to complete",
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting",
        "Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?",
    ],
)
def test_what_gloo_and_nccl_say_of_a_lost_peer_is_not_a_cause(text: str) -> None:
    error = WorkerError(type="RuntimeError", message=text, read_from="stderr")
    assert role_of(Ending(code=1, error=error)) == "peer_lost"


def test_a_process_that_nccl_aborts_for_a_lost_peer_is_not_a_cause() -> None:
    line = "terminate called: NCCL error: remote process exited or there was a network error"
    assert role_of(Ending(code=-6, last_line=line)) == "peer_lost"
    assert role_of(Ending(code=-6, last_line="double free")) == "cause"


def test_a_store_error_is_known_by_its_type() -> None:
    error = WorkerError(type="torch.distributed.DistStoreError", message="wait timeout", read_from="stderr")
    assert role_of(Ending(code=1, error=error)) == "peer_lost"


def test_no_code_alone_is_called_a_lack_of_memory() -> None:
    codes = [*range(256), *(-number for number in range(1, 65))]
    assert not [code for code in codes if "out of memory" in say(Ending(code=code, last_line="Killed"))]


@pytest.mark.parametrize(
    ("ending", "kind", "source"),
    [
        (Ending(code=0), "finished", "exit status"),
        (Ending(code=KILLED), "signal", "exit status"),
        (Ending(code=KILLED, oom="the kernel log"), "out_of_memory", "the kernel log"),
        (Ending(code=KILLED, stopped_by="SIGKILL"), "stopped", "exit status"),
        (Ending(code=139), "signal", "exit status"),
        (Ending(code=-11, error=BUG), "signal", "exit status"),
        (Ending(code=1, error=BUG), "exception", "stderr"),
        (Ending(code=93), "exit_code", "exit status"),
        (Ending(code=1, error=GLOO), "peer_lost", "stderr"),
        (Ending(code=KILLED, lost_with="was killed by SIGKILL"), "fork_server", "exit status"),
    ],
)
def test_what_ended_a_worker_and_what_says_so(ending: Ending, kind: str, source: str) -> None:
    assert (ended_by(ending), known_from(ending)) == (kind, source)


def test_out_of_memory_is_said_with_its_witness_and_is_the_same_failure_again() -> None:
    ending = Ending(code=KILLED, oom="the kernel log")
    assert role_of(ending) == "cause"
    assert say(ending) == (
        "killed by SIGKILL: the kernel's out-of-memory killer did it, according to the kernel log"
    )
    assert kind_of_failure(ending) == kind_of_failure(Ending(code=KILLED, oom="its memory cgroup")) != ""
