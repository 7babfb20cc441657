"""How long a preview takes among many nodes and waiting jobs: ``python -m tests.benchmarks.placing``.

On SQLite, or with ``python -m tests.postgres`` in front of it on PostgreSQL. One JSON line; exit status 1:
more than 300 ms for half of the questions.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webapp.accounts.models import Account

TARGET_MS = 300.0
SLOTS = 8


def prepare(anna: Account, nodes: int, running: int, queued: int) -> None:
    """A fleet of which a part is taken, and a queue whose first job keeps room."""
    from tests.webapp.factories import make_job, make_node, make_running_job

    gpus = [{"index": at, "name": "NVIDIA H200", "memory_bytes": 1 << 37} for at in range(SLOTS)]
    names = [f"node-{at:04}" for at in range(nodes)]
    for at, name in enumerate(names):
        labels = {"rack": str(at // 32)}
        make_node(name, slots=SLOTS, gpus=gpus, labels=labels, boot_id=name, cpus=64)
    share = max(1, nodes // (2 * running))
    for at in range(running):
        make_running_job(anna, names[at * share : (at + 1) * share], ranks_per_node=SLOTS, name=f"run-{at}")
    for at in range(queued):
        make_job(anna, f"wait-{at}", nnodes=str(nodes if at == 0 else nodes // 2 + 1), nproc_per_node=SLOTS)


def measure(anna: Account, times: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each, by the clock and of this process's own work."""
    from tests.webapp.api_client import Api
    from webapp.accounts.tokens import make_token

    api = Api(make_token(anna))
    took, worked = list[float](), list[float]()
    job = {
        "script": "/srv/train.py",
        "nnodes": "8:64",
        "nproc_per_node": SLOTS,
        "nodes_selector": {"rack": "9"},
    }
    for _ in range(times):
        began, own = time.perf_counter(), time.process_time()
        answer = api.post("/api/jobs/preview", job)
        took.append((time.perf_counter() - began) * 1000)
        worked.append((time.process_time() - own) * 1000)
        assert answer.status == 200, answer.body
    return took, worked


def report(took: list[float], worked: list[float], given: argparse.Namespace) -> dict[str, Any]:
    return {
        "nodes": given.nodes,
        "running": given.running,
        "queued": given.queued,
        "median_ms": round(statistics.median(took), 1),
        "worst_ms": round(max(took), 1),
        "own_median_ms": round(statistics.median(worked), 1),
        "target_ms": TARGET_MS,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.placing", description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--running", type=int, default=20)
    parser.add_argument("--queued", type=int, default=20)
    parser.add_argument("-n", type=int, default=20, help="questions (20)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["REGROUP_DATA"] = folder
        os.environ["REGROUP_ALLOWED_HOSTS"] = "testserver"
        os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.settings"
        import django
        from django.core.management import call_command

        django.setup()
        from django.db import transaction

        from webapp.accounts.models import Account, Role

        call_command("migrate", verbosity=0)
        anna = Account.objects.create_user("anna", role=Role.OPERATOR)
        with transaction.atomic():
            prepare(anna, given.nodes, given.running, given.queued)
        told = report(*measure(anna, given.n), given)
    print(json.dumps(told), flush=True)  # noqa: T201
    return int(told["median_ms"] > TARGET_MS)


if __name__ == "__main__":
    sys.exit(main())
