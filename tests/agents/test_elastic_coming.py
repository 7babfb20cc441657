"""A node comes, or comes back: the others train until it is ready, and nobody is charged."""

from __future__ import annotations

from pathlib import Path

from tests.agents.elastic_scripts import COLLECTIVE, SILENT
from tests.agents.runner_harness import Attempt, Runner, write_script

NEVER = {"last_call_timeout": "600"}


def test_the_others_train_until_a_newcomer_is_ready_to_start(tmp_path: Path) -> None:
    script = write_script(tmp_path, COLLECTIVE)
    with Attempt(tmp_path, nnodes="1:3", nproc_per_node=1, rdzv_conf=NEVER, script=script) as attempt:
        (first,) = attempt.start("node-a")
        first.wait_for_step(1, beyond=3)
        new = attempt.start_on("node-b", nodes=("node-a", "node-b"))
        formed = first.wait_for("rendezvous_completed", round=2)
        assert (formed["nodes"], formed["cause"], formed["charged"]) == (
            ["node-a", "node-b"],
            "membership",
            None,
        )
        first.wait_for_step(2, beyond=3)
        joined, ended = new.records("rendezvous_joined")[0], first.records("worker_exited")[0]
        assert joined["at"] <= ended["at"]
        # It comes from the fork server, which had imported torch before the node joined.
        worker = new.workers(2)[1].pid
        assert parent_of(worker) != new.process.pid
        new.kill(2, rank=1)
        # The first runner was told of itself alone, and yet the round waits for both.
        again = first.wait_for("rendezvous_completed", round=3)
        assert (again["nodes"], again["charged"]) == (["node-a", "node-b"], "node-b")


def parent_of(pid: int) -> int:
    text = Path(f"/proc/{pid}/stat").read_text()
    return int(text[text.rindex(")") + 2 :].split()[1])


def test_a_new_runner_takes_the_place_of_one_that_died_at_once(tmp_path: Path) -> None:
    script = write_script(tmp_path, SILENT)
    # A keep-alive that lapses after a minute: nobody waits for it.
    conf = {**NEVER, "keep_alive_max_attempt": "60"}
    with Attempt(tmp_path, nnodes="2", nproc_per_node=1, rdzv_conf=conf, script=script) as attempt:
        staying, dying = attempt.start("node-a", "node-b")
        staying.wait_for_step(1)
        dying.lose()
        attempt.start_on("node-b", incarnation=2)
        formed = staying.wait_for("rendezvous_completed", round=2)
        assert (formed["nodes"], formed["cause"], formed["charged"]) == (
            ["node-a", "node-b"],
            "membership",
            None,
        )
        staying.wait_for_step(2)


def test_rounds_and_charges_go_on_when_no_runner_is_left_that_knows_them(tmp_path: Path) -> None:
    script = write_script(tmp_path, SILENT)
    with Attempt(tmp_path, nproc_per_node=1, max_restarts=2, script=script) as attempt:
        (first,) = attempt.start("node-a")
        first.wait_for_step(1)
        first.kill(1, rank=0)
        first.wait_for_step(2)
        first.lose()
        second = attempt.start_on("node-a", incarnation=2)
        formed = second.wait_for("rendezvous_completed")
        assert (formed["round"], formed["cause"], formed["charged"]) == (3, "membership", None)
        assert second.records()[0]["source"].endswith("/node-a/2")
        second.kill(3, rank=0)
        assert second.wait_for("rendezvous_completed", round=4)["charged"] == "node-a"
        second.kill(4, rank=0)
        last = second.finish()
        assert (last["outcome"], last["charged"], last["is_infrastructure"]) == ("failed", 2, False)


def test_a_node_that_comes_while_a_worker_fails_changes_nothing_about_who_pays(tmp_path: Path) -> None:
    script = write_script(tmp_path, COLLECTIVE)
    with Attempt(tmp_path, nnodes="1:2", nproc_per_node=1, rdzv_conf=NEVER, script=script) as attempt:
        (first,) = attempt.start("node-a", nodes=("node-a",))
        first.wait_for_step(1, beyond=3)
        new = attempt.start_on("node-b")
        new.wait_for("runner_started")
        first.kill(1, rank=0)
        both = first.wait_for("rendezvous_completed", nodes=["node-a", "node-b"])
        charged = [one["charged"] for one in first.records("rendezvous_completed")]
        assert [name for name in charged if name] == ["node-a"]
        new.wait_for_step(both["round"], beyond=3)


def test_one_membership_restart_more_than_allowed_ends_the_attempt_everywhere(tmp_path: Path) -> None:
    script = write_script(tmp_path, SILENT)
    spec = {"nnodes": "1:3", "nproc_per_node": 1, "max_membership_restarts": 1, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=script, **spec) as attempt:
        (first,) = attempt.start("node-a")
        first.wait_for_step(1)
        first.kill(1, rank=0)
        first.wait_for_step(2)
        second = attempt.start_on("node-b")
        second.wait_for_step(3)
        third = attempt.start_on("node-c")
        for runner in (first, second, third):
            last = runner.finish()
            assert last["outcome"] in ("failed", "stopped")
            assert "Round 4 would be a membership restart" in last["reason"]
            assert "max_membership_restarts 1" in last["reason"]
        assert "failed" in {runner.records()[-1]["outcome"] for runner in (first, second, third)}


def test_each_node_has_its_own_number_of_workers(tmp_path: Path) -> None:
    group = ("RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE")
    names = (*group, "ROLE_RANK", "ROLE_WORLD_SIZE")
    tell = f"import os\nprint(*(os.environ[name] for name in {names!r}), flush=True)\n"
    script = write_script(tmp_path, tell + COLLECTIVE)
    with Attempt(tmp_path, nnodes="1:3", rdzv_conf=NEVER, script=script) as attempt:
        (one,) = attempt.start("node-a", nodes=("node-a", "node-b"), nproc=1)
        two = attempt.start_on("node-b", nproc=2)
        formed = one.wait_for("rendezvous_completed")
        assert (formed["world_size"], formed["local_world_sizes"]) == (3, [1, 2])
        one.wait_for_step(1, beyond=3)
        two.wait_for_step(1, beyond=3)
        said = [_said(one, 1, 0), _said(two, 1, 1), _said(two, 1, 2)]
        assert said == ["0 0 0 3 1 2 0 3", "1 0 1 3 2 2 1 3", "2 1 1 3 2 2 2 3"]
        three = attempt.start_on("node-c", nproc=3)
        three.wait_for_step(2, beyond=3)
        assert _said(three, 2, 5) == "5 2 2 6 3 3 5 6"
        one.leave()
        after = three.wait_for("rendezvous_completed", round=3)
        assert (after["nodes"], after["world_size"], after["local_world_sizes"]) == (
            ["node-b", "node-c"],
            5,
            [2, 3],
        )
        three.wait_for_step(3, beyond=3)
        assert _said(three, 3, 2) == "2 0 1 5 3 2 2 5"


def _said(runner: Runner, round_number: int, rank: int) -> str:
    return runner.bundle.log(round_number, rank, "stdout").read_text().splitlines()[0]
