"""What is read when Python, a library or torch starts has its effect in forked workers too."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.agents.preload_harness import WAYS, Way, run_both, spec_of
from tests.agents.test_preload_script import FACTS, same, same_facts

VARIABLES: dict[str, dict[str, str]] = {
    "python's optimizing": {"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1"},
    "python's developer mode": {"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "error::UserWarning"},
    "python's streams": {"PYTHONIOENCODING": "latin-1:replace", "PYTHONUTF8": "0", "LC_ALL": "C"},
    "python's safe path": {"PYTHONSAFEPATH": "1", "PYTHONFAULTHANDLER": "1", "PYTHONINTMAXSTRDIGITS": "5000"},
    "python's own path": {
        "PYTHONPATH": "",
        "PYTHONUSERBASE": "/nonexistent",
        "PYTHONPYCACHEPREFIX": "/tmp/x",
    },
}

READ_BY_TORCH = """
import ctypes, json, os, sys, torch
maps = open("/proc/self/maps").read()
print(json.dumps({
    "threads": [torch.get_num_threads(), torch.get_num_interop_threads()],
    "preloaded": "libutil" in maps, "own library": ctypes.CDLL("libown.so") is not None,
    "devices": [os.environ["CUDA_VISIBLE_DEVICES"], torch.cuda.device_count(), torch.cuda.is_available()],
    "hash": hash("gradient"), "order": list({"a", "b", "c", "d", "e"}),
}))
"""

PER_WORKER = """
import json, os, sys
print(json.dumps([os.environ.get("RANK"), os.environ.get("ONLY_FIRST"), sys.argv, hash("gradient")]))
"""


@pytest.mark.parametrize("what", VARIABLES)
def test_a_script_sees_the_same_with(what: str, tmp_path: Path) -> None:
    same_facts(run_both(tmp_path, spec_of(tmp_path, FACTS, preload=("json",)), VARIABLES[what]))


def test_libraries_threads_devices_and_the_hash_seed_follow_the_environment(tmp_path: Path) -> None:
    libc = next(Path("/").glob("lib*/**/libutil.so.1"))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "libown.so").symlink_to(libc)
    env = {
        "OMP_NUM_THREADS": "1",
        "LD_PRELOAD": str(libc),
        "LD_LIBRARY_PATH": str(tmp_path / "own"),
        "CUDA_VISIBLE_DEVICES": "1",
        "PYTHONHASHSEED": "11",
    }
    facts = same_facts(run_both(tmp_path, spec_of(tmp_path, READ_BY_TORCH, preload=("torch",)), env))
    assert [facts["preloaded"], facts["own library"]] == [True, True]
    assert str(facts["threads"]).startswith("[1, ")


def test_each_worker_has_its_own_environment(tmp_path: Path) -> None:
    for name in WAYS:
        way = Way(name, tmp_path, spec_of(tmp_path, PER_WORKER, "--rank"))
        first = json.loads(way.run({"RANK": "0", "ONLY_FIRST": "yes"}).out)
        second = json.loads(way.run({"RANK": "1"}).out)
        way.end()
        assert (first[:2], second[:2]) == (["0", "yes"], ["1", None])


def test_without_a_given_seed_hashes_differ_from_one_fork_server_to_the_next(tmp_path: Path) -> None:
    hashes = set()
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        way = Way("preload", folder, spec_of(folder, PER_WORKER))
        hashes.add(json.loads(way.run().out)[3])
        way.end()
    assert len(hashes) == 3


@pytest.mark.parametrize(
    "customize", ["import sys\nsys.customized = 'yes'\nprint('customized')", "1 / 0", "import nonesuch", ""]
)
def test_the_sites_own_customizing_still_counts(customize: str, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sitecustomize.py").write_text(customize)
    script = "import sys, sitecustomize\nprint(getattr(sys, 'customized', None), sitecustomize.__file__)"
    ran = same(run_both(tmp_path, spec_of(tmp_path, script)))
    assert ("customized\nyes" in ran.out, "ZeroDivisionError" in ran.err) == (
        "yes" in customize,
        "1 / 0" in customize,
    )


def test_what_a_module_says_while_it_is_preloaded_stands_in_each_workers_log(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "import loud\nprint('script')", preload=("loud",))
    (tmp_path / "job" / "loud.py").write_text(
        "import sys, warnings\nprint('on stdout')\nwarnings.warn('the driver is too old', stacklevel=1)\n"
    )
    ran = same(run_both(tmp_path, spec))
    assert (ran.out, "the driver is too old" in ran.err) == ("on stdout\nscript\n", True)
    (tmp_path / "again").mkdir()
    way = Way("preload", tmp_path / "again", replace(spec, workdir=str(tmp_path)))
    assert [way.run(), way.run()] == [ran, ran]
    way.end()


def test_modules_beside_the_script_shadow_others_as_they_do_without(tmp_path: Path) -> None:
    spec = spec_of(
        tmp_path, "import colorsys, logging\nprint(colorsys.MINE, logging.__file__)", preload=("user",)
    )
    (tmp_path / "job" / "colorsys.py").write_text("MINE = 5\n")
    (tmp_path / "job" / "user.py").write_text("import colorsys\nassert colorsys.MINE == 5\n")
    assert same(run_both(tmp_path, spec)).out.startswith("5 ")
