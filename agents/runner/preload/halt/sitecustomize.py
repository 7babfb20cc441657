"""Halts a worker's command in front of its script: from here on that process is the fork server.

The runner starts the very command of a worker with this folder in front of ``PYTHONPATH``, so that Python
runs this file while it sets itself up. The process imports what the job preloads, and never goes on. Each
worker forked from it does: it leaves this file, and Python runs the script as it would have anyway. So
nothing of the script's surroundings (arguments, ``__main__``, tracebacks, exit) has to be imitated.

Standard library only, and as little of it as will do, since all of it stays imported in the workers.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import select
import signal
import sys

FORK_SERVER = "REGROUP_FORK_SERVER"
"""``REQUESTS STATUS RUNNER``: the two pipes to the runner, and its pid. Only a fork server has it."""
PRELOAD, PATH0, PYTHONPATH = "REGROUP_PRELOAD", "REGROUP_PATH0", "REGROUP_PYTHONPATH"
LATER = "REGROUP_PRELOAD_LATER"
REPORT = "regroup_report"
LOOK_MS, LOOKS = 5000, 3
"""How long nobody must have wanted anything before what can wait is imported; how often it is looked at."""
FREE = 0.8
"""How much of a core must have been free meanwhile: the workers are not to train more slowly for it."""
PR_SET_PDEATHSIG = 1
PR_SET_PTRACER, PR_SET_PTRACER_ANY = 0x59616D61, ctypes.c_ulong(-1)
STACKS, STACKS_SIGNAL = "REGROUP_STACKS", signal.SIGRTMAX - 7
"""See ``agents/stack_signal.py``."""
HIGH_FD = 100
TITLE = b"regroup fork server"
NAME = b"fork-server"

_libc = ctypes.CDLL(None, use_errno=True)


def die_with(parent: int) -> None:
    """Be killed when the parent ends. It may have ended before: then no signal would ever come."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def stat_of(pid: int | str) -> list[bytes]:
    """The fields of ``/proc/PID/stat`` from the third on."""
    text = read_file(f"/proc/{pid}/stat")
    return text[text.rindex(b")") + 2 :].split()


class Title:
    """What ``ps`` shows. A tool that looks for the script must find workers only, not the fork server."""

    def __init__(self) -> None:
        self._command, self._name = read_file("/proc/self/cmdline"), read_file("/proc/self/comm").strip()
        self._begin, self._end = (int(field) for field in stat_of("self")[45:47])

    def hide(self) -> None:
        self._show(TITLE, NAME)

    def show(self, arguments: list[str]) -> None:
        """The command again, with these for its last arguments."""
        first = self._command.split(b"\0")[: -1 - len(arguments)]
        words = [*first, *(os.fsencode(argument) for argument in arguments)]
        self._show(b"\0".join(words) + b"\0", self._name)

    def _show(self, command: bytes, name: bytes) -> None:
        room = self._end - self._begin
        try:
            with open("/proc/self/comm", "wb", 0) as file:
                file.write(name)
            with open("/proc/self/mem", "r+b", 0) as file:
                file.seek(self._begin)
                file.write(command[: room - 1].ljust(room, b"\0"))
        except OSError:  # a title is not worth a worker
            return


class Server:
    def __init__(self, requests: int, status: int, path0: list[str]) -> None:
        """``path0``: what the script's own imports find first; empty where Python puts nothing there."""
        self._requests, self._status, self._path0 = requests, status, path0
        self._pid = os.getpid()
        self._title = Title()
        self._title.hide()
        self._serials: dict[int, bytes] = {}
        self._said: dict[int, bytes] = {}

    def say(self, *words: object) -> None:
        os.write(self._status, " ".join(str(word).replace("\n", " ") for word in words).encode() + b"\n")

    # -- before the first worker --

    def preload(self, names: list[str], again: dict[str, str]) -> None:
        """Import them. One that fails is told of and left out: the process begins anew, as ``again``."""
        for name in names:
            problem = self._import(name)
            if problem:
                self.say("cannot", name, problem)
                for fd in (1, 2):
                    os.ftruncate(fd, 0)
                    os.lseek(fd, 0, os.SEEK_SET)
                again[PRELOAD] = ",".join(other for other in names if other != name)
                os.execve(sys.executable, sys.orig_argv, again)
        if "torch.distributed" in sys.modules:
            # It tells when the process group is up, also where the script itself does not report.
            self._import(REPORT)
        self._said = {fd: read_file(f"/proc/self/fd/{fd}") for fd in (1, 2)}
        self.say("ready")

    def _import(self, name: str) -> str:
        # Modules of the job shadow others as they do when the script itself imports them.
        sys.path[:0] = self._path0
        try:
            return import_module(name)
        finally:
            del sys.path[: len(self._path0)]

    # -- forking --

    def serve(self, later: list[str]) -> None:
        """Until the runner closes its pipe, which ends the process. Comes back in workers only.

        ``later``: what the workers of restarts find imported too, while nobody waits for it.
        """
        wake, signalled = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(signalled, False)
        signal.signal(signal.SIGCHLD, lambda signum, frame: None)
        signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
        poller = select.poll()
        poller.register(self._requests, select.POLLIN)
        poller.register(wake, select.POLLIN)
        looks = 0
        while True:
            before = idle_ms() if later else 0
            ready = [fd for fd, _ in poller.poll(LOOK_MS if later else None)]
            if not ready and is_time(idle_ms() - before, looks := looks + 1):
                self._import_later(later.pop(0))
            if wake in ready:
                os.read(wake, 4096)
                self._reap()
            if self._requests in ready and (request := self._fork(self._read_request())):
                return self._become_worker(request, (self._requests, self._status, wake, signalled))

    def _import_later(self, name: str) -> None:
        if problem := self._import(name):
            self.say("cannot", name, problem)

    def _read_request(self) -> tuple[bytes, bytes]:
        """Its serial number and its body."""
        head = self._read(16)
        return head[:8], self._read(int.from_bytes(head[8:], "big"))

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = os.read(self._requests, size - len(data))
            if not more:
                os._exit(0)
            data += more
        return data

    def _fork(self, request: tuple[bytes, bytes]) -> bytes | None:
        """The request's body in the new worker; it has its own session by the time the runner hears of it."""
        serial, body = request
        settled, done = os.pipe()
        try:
            pid = os.fork()
        except OSError as error:
            self.say("refused", int.from_bytes(serial, "big"), error.errno)
            pid = -1
        if pid == 0:
            os.setsid()
            die_with(self._pid)
            os.close(settled)
            os.close(done)
            return body
        os.close(done)
        if pid > 0:
            os.read(settled, 1)
            self._serials[pid] = serial
            self.say("started", int.from_bytes(serial, "big"), pid, stat_of(pid)[19].decode())
        os.close(settled)
        return None

    def _reap(self) -> None:
        for pid, serial in list(self._serials.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._serials[pid]
                self.say("ended", int.from_bytes(serial, "big"), os.waitstatus_to_exitcode(status))

    # -- being a worker --

    def _become_worker(self, body: bytes, ours: tuple[int, ...]) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for fd in ours:
            os.close(fd)
        environment, arguments, *logs = marshal.loads(body)
        for fd, path in zip((1, 2), logs):  # noqa: B905 - always two
            open_log(fd, path, self._said[fd])
        set_environment(environment)
        set_arguments(arguments)
        self._title.show(arguments)
        draw_anew()
        let_look()


def idle_ms() -> float:
    """How long the machine's cores have had nothing to do since it started, all of them together."""
    idle, waiting = read_file("/proc/stat").split(None, 6)[4:6]
    return 1000 * (int(idle) + int(waiting)) / os.sysconf("SC_CLK_TCK")


def is_time(idle: float, looks: int) -> bool:
    """Whether what can wait is imported after so many looks, when in the last so many ms were free."""
    return idle >= FREE * LOOK_MS or looks >= LOOKS


def import_module(name: str) -> str:
    """Import it; why it cannot be preloaded, or nothing."""
    try:
        __import__(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a module may do anything
        return f"{type(error).__name__}: {error}"
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return "it starts threads while it is imported, and threads do not come along in a fork"
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        return "it sets CUDA up while it is imported, and CUDA cannot be used across a fork"
    return ""


def open_log(fd: int, path: str, said: bytes) -> None:
    """Write there from now on, first of all what was said while modules were imported."""
    log = os.open(path, os.O_WRONLY)
    os.dup2(log, fd)
    os.close(log)
    try:
        os.write(fd, said)
    except OSError:  # a full disk, which the script will meet itself
        return


def set_environment(environment: dict[str, str]) -> None:
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)


def set_arguments(arguments: list[str]) -> None:
    """Those of the script: they differ between workers where they speak of the local rank."""
    if arguments:
        sys.argv[-len(arguments) :] = arguments
        sys.orig_argv[-len(arguments) :] = arguments


def draw_anew() -> None:
    """What was drawn at random when its module was imported must differ between workers.

    ``random`` sees to itself, and torch's generators for devices begin with a fixed seed.
    """
    if hasattr(sys.modules.get("torch"), "default_generator"):
        sys.modules["torch"].default_generator.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    if "multiprocessing.process" in sys.modules:
        sys.modules["multiprocessing.process"].current_process().authkey = os.urandom(32)


def let_look() -> None:
    """Let the stacks be read when the script hangs: by a tracer of the same user, or through a signal."""
    _libc.prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0)
    if STACKS not in os.environ:
        return
    import faulthandler
    import fcntl

    try:
        file = os.open(os.environ[STACKS], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        # Out of the way of those that the script opens.
        aside = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, HIGH_FD)
        os.close(file)
        faulthandler.register(STACKS_SIGNAL, aside, all_threads=True, chain=False)
    except (OSError, RuntimeError):  # what shows a hang is not worth a worker
        return


def step_aside() -> BaseException | None:
    """Run the ``sitecustomize`` that Python would have found; gives what it raised."""
    folder = os.path.dirname(__file__)
    sys.path.remove(folder)
    sys.path_importer_cache.pop(folder, None)
    del sys.modules[__name__]
    try:
        __import__(__name__)
    except BaseException as problem:  # noqa: BLE001 - raised again in each worker
        return problem
    return None


def halt() -> BaseException | None:
    """Be a fork server; in workers, give what Python's own ``sitecustomize`` raised."""
    again = dict(os.environ)
    requests, status, runner = (int(word) for word in os.environ.pop(FORK_SERVER).split())
    die_with(runner)
    names, later = ([name for name in os.environ.pop(each).split(",") if name] for each in (PRELOAD, LATER))
    path0, pythonpath = os.environ.pop(PATH0), os.environ.pop(PYTHONPATH)
    os.environ["PYTHONPATH"] = pythonpath
    problem = step_aside()
    server = Server(requests, status, [] if getattr(sys.flags, "safe_path", False) else [path0])
    server.preload(names, again)
    server.serve(later)
    return problem


def _halt_or_end() -> BaseException | None:
    """Whatever goes wrong, this process must not go on to run the script."""
    try:
        return halt()
    except BaseException:  # noqa: BLE001
        import traceback

        traceback.print_exc()
        os._exit(1)


if __name__ == "sitecustomize" and FORK_SERVER in os.environ:
    _problem = _halt_or_end()
    if _problem is not None:
        raise _problem
