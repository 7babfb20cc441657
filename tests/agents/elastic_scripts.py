"""Scripts of the tests of elasticity, and how they are told from outside."""

from __future__ import annotations

COLLECTIVE = """
import os, time
import torch, torch.distributed as dist
import regroup_report
dist.init_process_group("gloo")
step = 0
while True:
    one = torch.ones(1)
    dist.all_reduce(one)
    assert one.item() == dist.get_world_size()
    step += 1
    regroup_report.step(step)
    time.sleep(0.05)
"""

SILENT = """
import time
import regroup_report
for step in range(1, 100_000):
    regroup_report.step(step)
    time.sleep(0.05)
"""

DEAF_RANK_0 = (
    "import os, signal\n"
    "if os.environ['RANK'] == '0':\n"
    "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SILENT
)

UNTIL_TOLD = """
import os, sys, time
import regroup_report
told = os.path.join(os.path.dirname(os.path.abspath(__file__)), "done")
step = 0
while not os.path.exists(told):
    step += 1
    regroup_report.step(step)
    time.sleep(0.05)
sys.exit(int(open(told).read() or 0))
"""

MUTE_FAILURE = COLLECTIVE.replace(
    "    dist.all_reduce(one)\n",
    "    try:\n        dist.all_reduce(one)\n    except BaseException:\n        os._exit(3)\n",
)
"""A worker that has lost its peer and does not say so."""
