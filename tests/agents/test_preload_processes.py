"""What a script starts, and what it draws at random, is as it would be had each worker started by itself."""

from __future__ import annotations

import json
from pathlib import Path

from tests.agents.preload_harness import WAYS, Way, run_both, spec_of
from tests.agents.test_preload_script import same

CHILDREN = """
import multiprocessing, os, sys
print("run as", __name__, flush=True)

class Job:
    def __init__(self, number): self.number = number

def work(job, results):
    parent = multiprocessing.parent_process()
    results.put((job.number, __name__, parent.name, parent.pid == os.getppid(), sys.argv[1:]))

def main():
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        results = context.Queue()
        children = [context.Process(target=work, args=(Job(n), results)) for n in range(2)]
        for child in children: child.start()
        got = sorted(results.get(timeout=60) for _ in children)
        for child in children: child.join()
        print(method, got, [child.exitcode for child in children], flush=True)
    with context.Manager() as manager:
        print(dict(manager.dict(a=1)), flush=True)

if __name__ == "__main__":
    main()
"""

LOADERS = """
import torch, multiprocessing
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self): return 6
    def __getitem__(self, i): return torch.tensor([i * i, torch.utils.data.get_worker_info().id])

def main():
    # Those that are not forked import torch once more, each.
    for method, loaders in ((None, 2), ("fork", 2), ("spawn", 1), ("forkserver", 1)):
        loader = DataLoader(Squares(), num_workers=loaders, batch_size=3, multiprocessing_context=method)
        print(method, [batch.tolist() for batch in loader], flush=True)
    layer = torch.nn.Linear(3, 2)
    layer(torch.ones(1, 3)).sum().backward()
    torch.manual_seed(3)
    print(torch.rand(2).tolist(), torch.get_num_threads(), torch.initial_seed())
    print(torch.get_default_dtype(), torch.is_grad_enabled(), torch.cuda.is_initialized())

if __name__ == "__main__":
    main()
"""

DRAWS = """
import json, multiprocessing, random, tempfile, uuid
import numpy, torch
print(json.dumps({
    "random": random.random(), "numpy": numpy.random.rand(), "generator": numpy.random.default_rng().random(),
    "uuid": str(uuid.uuid4()), "key": multiprocessing.current_process().authkey.hex(),
    "name": tempfile.mktemp(), "torch": torch.rand(1).item(), "seed": torch.initial_seed(),
}))
"""


def test_children_by_every_start_method_are_the_scripts_own(tmp_path: Path) -> None:
    ran = same(run_both(tmp_path, spec_of(tmp_path, CHILDREN, "--x", preload=("multiprocessing", "logging"))))
    assert ran.code == 0, ran.err


def test_loaders_of_data_and_the_state_of_torch_are_the_same(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, LOADERS, preload=("torch", "torch.distributed"))
    ran = same(run_both(tmp_path, spec, {"OMP_NUM_THREADS": "1"}))
    assert ran.code == 0, ran.err


def test_every_worker_draws_other_numbers(tmp_path: Path) -> None:
    draws = []
    for name in WAYS:
        way = Way(
            name, tmp_path, spec_of(tmp_path, DRAWS, preload=("random", "numpy", "torch", "multiprocessing"))
        )
        draws += [json.loads(way.run().out) for _ in range(2)]
        way.end()
    for what in draws[0]:
        assert len({draw[what] for draw in draws}) == 4, what
