"""A script cannot tell whether its worker was forked by what it sees of itself and its process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.wire.spec import JobSpec
from tests.agents.preload_harness import Ran, run_both, spec_of

FACTS = """
import atexit, ctypes, gc, inspect, json, locale, multiprocessing, os, resource, signal, sys
import threading, warnings

def open_files():
    found = {}
    for fd in os.listdir("/proc/self/fd"):
        try:
            found[fd] = os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:
            pass
    return found

def death_signal():
    value = ctypes.c_int()
    ctypes.CDLL(None).prctl(2, ctypes.byref(value), 0, 0, 0)
    return value.value

def stream(one):
    return [one.name, one.encoding, one.errors, one.line_buffering, one.write_through, one.isatty(), one.mode]

main = sys.modules["__main__"]
facts = {
    "argv": sys.argv, "orig_argv": sys.orig_argv, "path": sys.path, "flags": repr(sys.flags),
    "executable": [sys.executable, sys.prefix, sys.base_prefix],
    "main": {name: repr(value).split(" at 0x")[0] for name, value in vars(main).items()
             if name.startswith("__") and name != "__builtins__"},
    "names": sorted(vars(main)), "frames": len(inspect.stack()), "below": str(sys._getframe(0).f_back),
    "cwd": os.getcwd(), "environ": dict(os.environ), "bytes": len(os.environb),
    "files": open_files(), "streams": [stream(one) for one in (sys.stdin, sys.stdout, sys.stderr)],
    "commandline": open("/proc/self/cmdline").read(), "name": open("/proc/self/comm").read(),
    "leads": [os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid()], "death signal": death_signal(),
    "signals": {s.name: str(signal.getsignal(s)).split(" at 0x")[0] for s in signal.valid_signals()
                if isinstance(s, signal.Signals)},
    "masks": [line.split() for line in open("/proc/self/status")
              if line.startswith("Sig") and "SigQ" not in line],
    "limits": [resource.getrlimit(number) for name in dir(resource)
               if name.startswith("RLIMIT_") for number in [getattr(resource, name)]],
    "umask": os.umask(0o22), "nice": os.nice(0), "oom": open("/proc/self/oom_score_adj").read(),
    "start method": [multiprocessing.get_start_method(allow_none=True), multiprocessing.get_start_method()],
    "process": [multiprocessing.current_process().name, multiprocessing.parent_process(),
                multiprocessing.current_process().daemon, multiprocessing.active_children()],
    "threads": [threading.current_thread() is threading.main_thread(), threading.active_count(),
                threading.main_thread().name, threading.get_native_id() == os.getpid()],
    "collector": [gc.isenabled(), gc.get_threshold(), gc.get_debug()],
    "hooks": [sys.excepthook is sys.__excepthook__, threading.excepthook is threading.__excepthook__,
              sys.unraisablehook is sys.__unraisablehook__, sys.gettrace(), sys.getprofile()],
    "warnings": [str(one) for one in warnings.filters], "options": [sys.warnoptions, sys._xoptions],
    "ours": sorted(name for name in sys.modules if "regroup" in name.lower() and "editable" not in name),
    "customized": "sitecustomize" in sys.modules, "importers": sorted(sys.path_importer_cache),
    "locale": [locale.getpreferredencoding(), locale.setlocale(0)], "recursion": sys.getrecursionlimit(),
}
print(json.dumps(facts))
"""


def same(both: tuple[Ran, Ran]) -> Ran:
    executed, forked = both
    assert forked.out == executed.out
    assert forked.err == executed.err
    assert forked.code == executed.code
    return forked


def same_facts(both: tuple[Ran, Ran]) -> dict[str, object]:
    executed, forked = (json.loads(ran.out) if ran.code == 0 else pytest.fail(ran.err) for ran in both)
    for name, value in executed.items():
        assert {name: forked[name]} == {name: value}
    return dict(forked)


def test_a_script_sees_the_same_of_everything(tmp_path: Path) -> None:
    facts = same_facts(run_both(tmp_path, spec_of(tmp_path, FACTS, "--lr", "0.1", "ü", preload=("json",))))
    assert (facts["frames"], facts["ours"], facts["death signal"]) == (1, [], 9)


def test_a_script_given_relative_to_its_workdir_sees_the_same(tmp_path: Path) -> None:
    spec_of(tmp_path, FACTS)
    (tmp_path / "link.py").symlink_to(tmp_path / "job" / "train.py")
    for script in ("job/train.py", "./job/../job/train.py", "link.py"):
        folder = tmp_path / f"of-{script.replace(chr(47), chr(45))}"
        folder.mkdir()
        facts = same_facts(run_both(folder, JobSpec(script=script, workdir=str(tmp_path), preload=())))
        assert facts["cwd"] == str(tmp_path)
