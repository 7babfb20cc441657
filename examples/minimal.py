"""The least an elastic script needs: a process group, a step, a report. Runs under torchrun, too.

It keeps no checkpoint, so after a restart it counts from 0 again.
"""

from __future__ import annotations

import argparse
import os
import time

import torch
import torch.distributed as dist

try:
    import regroup_report as report
except ImportError:
    report = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--pace", type=float, default=0.1, help="seconds a step takes at least")
    args = parser.parse_args()
    has_gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if has_gpu else torch.device("cpu")
    dist.init_process_group("nccl" if has_gpu else "gloo")
    for step in range(1, args.steps + 1):
        ones = torch.ones(1, device=device)
        dist.all_reduce(ones)
        print(f"rank {dist.get_rank()} step {step}: {int(ones.item())} ranks", flush=True)
        if report:
            report.step(step, total=args.steps, ranks=ones.item())
        time.sleep(args.pace)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
