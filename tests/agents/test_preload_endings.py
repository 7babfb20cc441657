"""A forked worker ends as an executed one does: status, words, order of what still runs, what is left."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.wire.spec import JobSpec
from tests.agents.preload_harness import run_both, spec_of
from tests.agents.test_preload_script import same

ENDINGS: dict[str, tuple[str, int]] = {
    "the last line": ("print('done')", 0),
    "a code": ("import sys; sys.exit(3)", 3),
    "a text": ("import sys; sys.exit('no such data set')", 1),
    "no code": ("raise SystemExit", 0),
    "a large code": ("import sys; sys.exit(300)", 44),
    "at once": ("import os; print('half', end=''); os._exit(5)", 5),
    "an exception": (
        "def f():\n    raise ValueError('bad')\ntry:\n    f()\nexcept ValueError as e:\n    1 / 0\n",
        1,
    ),
    "an exception of its own": ("class Torn(Exception): pass\nraise Torn('x', 2)", 1),
    "a group": ("raise ExceptionGroup('both', [ValueError(1), TypeError(2)])", 1),
    "a syntax error": ("print('not reached')\nx = = 1\n", 1),
    "a bad encoding": ("# coding: nonesuch\n", 1),
    "recursion": ("def f(): f()\nf()", 1),
    "an interrupt": ("raise KeyboardInterrupt", -2),
    "a signal": ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)\nsignal.pause()", -15),
    "a kill": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)\nsignal.pause()", -9),
    "an abort": ("import os; os.abort()", -6),
    "a segmentation fault": ("import ctypes; ctypes.string_at(0)", -11),
    "a broken pipe": ("import os\nr, w = os.pipe(); os.close(r)\nos.write(w, b'x')", 1),
    "its own excepthook": ("import sys\nsys.excepthook = lambda *a: print('hook', a[0])\n1 / 0", 1),
    "a hung-up terminal": ("import os, signal; os.kill(os.getpid(), signal.SIGHUP)\nsignal.pause()", -1),
    "an imported exit": ("import runpy, sys\nsys.argv.append('x')\nquit(7)", 7),
    "a warning": ("import warnings; warnings.warn('old'); warnings.warn('older', DeprecationWarning)", 0),
}

LAST_WORDS = """
import atexit, sys, threading, time, weakref
class Held:
    def __del__(self): print("deleted at the end")
held = Held()
atexit.register(print, "registered first")
atexit.register(print, "registered last")
started = threading.Event()
def go_on():
    started.set()
    threading.main_thread().join()
    print("the thread outlives the script")
    raise ValueError("in a thread")
thread = threading.Thread(target=go_on, name="saver")
thread.start()
started.wait()
weakref.finalize(held, print, "finalized")
print("without a newline", end="")
sys.stderr.write("and on stderr")
sys.exit(4)
"""

LIBRARY = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void) { fprintf(stderr, "loaded\\n"); }
__attribute__((destructor)) static void end(void) { fprintf(stderr, "unloaded\\n"); }
"""


@pytest.fixture(autouse=True)
def _hang_ups_count() -> Iterator[None]:
    """Also where the tests are run with hang-ups ignored, as by nohup: that would be inherited."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("how", ENDINGS)
def test_a_script_that_ends_by(how: str, tmp_path: Path) -> None:
    script, code = ENDINGS[how]
    ran = same(run_both(tmp_path, spec_of(tmp_path, script)))
    assert ran.code == code


def test_exit_handlers_threads_and_destructors_run_in_their_order(tmp_path: Path) -> None:
    ran = same(run_both(tmp_path, spec_of(tmp_path, LAST_WORDS, preload=("threading", "logging"))))
    assert ran.code == 4
    assert ran.out.split("without a newline")[1].splitlines() == [
        "the thread outlives the script",
        "finalized",
        "registered last",
        "registered first",
        "deleted at the end",
    ]


def test_a_module_that_fails_shows_the_frames_it_would(tmp_path: Path) -> None:
    package = tmp_path / "job" / "trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "steps.py").write_text("def step(n):\n    raise RuntimeError(f'step {n}')\n")
    (package / "run.py").write_text(
        "import sys\nfrom .steps import step\nprint(sys.argv, __name__, __spec__.name)\nstep(3)\n"
    )
    spec = JobSpec(module="trainer.run", args=("--x",), workdir=str(package.parent), preload=("json",))
    ran = same(run_both(tmp_path, spec))
    assert (ran.code, "step 3" in ran.err, "runpy" in ran.err) == (1, True, True)
