"""A node fetches a job's uploaded code before it starts anything, and says in words why it could not."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agents.node import code, code_cache
from agents.node.checks import answer_check
from agents.node.code import code_in_place, forget_code
from agents.node.config import Config, read_config
from agents.node.outcome import Failed, Refused
from agents.wire.checks import CheckNode
from agents.wire.code import MOST_BYTES, TICKET, CodeSource
from agents.wire.commands import StartRunner
from agents.wire.spec import StartMessage
from tests.agents.node_harness import Agent, Hub, Valkey, start_command
from tests.agents.test_upload_archive import make_zip, tree

FILES = (("train.py", b"print('training')"), ("lib/net.py", b"net"))


@dataclass
class CodeHub:
    """Answers as the hub's HTTP does: what lies at a path, to who has the ticket."""

    url: str = ""
    digest: str = ""
    content: bytes = b""
    statuses: list[int] = field(default_factory=list)
    """What is answered instead, once each."""
    asked: list[str] = field(default_factory=list)

    @property
    def source(self) -> CodeSource:
        return CodeSource(digest=self.digest, hub=self.url, ticket="a-ticket")

    def answer(self, ticket: str, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        if self.statuses:
            return self.statuses.pop(0), b""
        if ticket != "a-ticket":
            return 401, b""
        return (200, self.content) if path == self.source.path else (404, b"")


@pytest.fixture
def code_hub(tmp_path: Path) -> Iterator[CodeHub]:
    content = make_zip(tmp_path / "hub.zip", *FILES).read_bytes()
    hub = CodeHub(content=content, digest=hashlib.sha256(content).hexdigest())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = hub.answer(self.headers.get(TICKET, ""), self.path)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{hub.url}/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Its log is nobody's concern."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hub.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield hub
        server.shutdown()


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setattr(code_cache, "PAUSE_S", 0.0)
    flags = ["--redis-url", "redis://127.0.0.1:1", "--data", str(tmp_path / "node"), "--name", "node-a"]
    return read_config(flags, {})


def start_of(hub: CodeHub, node: str = "node-a", **spec: object) -> StartRunner:
    command = start_command(node, **{"script": "train.py", "code": hub.digest} | spec)  # type: ignore[arg-type]
    return replace(command, message=replace(command.message, code=hub.source))


def provide(message: StartMessage, config: Config) -> StartMessage:
    with code_in_place(message, config) as settled:
        (config.data / "bundles" / message.attempt / "start.json").write_text("{}")
    return settled


def left_in(config: Config) -> list[str]:
    """Everything but whole copies of code."""
    return [str(path) for path in config.data.rglob("*") if path.is_file() and path.suffix != ".zip"]


# -- through a node agent --


def test_the_runner_is_started_on_the_unpacked_code(code_hub: CodeHub, agent: Agent, hub: Hub) -> None:
    command = start_of(code_hub, agent.name)
    ended = hub.carry_out(command)
    assert ended["outcome"] == "done", ended
    bundle = agent.bundle(command.message.attempt)
    assert tree(bundle.code) == {name: content.decode() for name, content in FILES}
    message = bundle.message()
    assert message is not None
    assert (message.spec.script, message.spec.workdir) == (f"{bundle.code}/train.py", str(bundle.code))
    assert "a-ticket" not in (bundle.folder / "start.json").read_text()
    assert hub.carry_out(start_of(code_hub, agent.name))["outcome"] == "done"
    assert len(code_hub.asked) == 1, "the second start used the node's own copy"
    refused_in_words(code_hub, agent, hub)


def refused_in_words(code_hub: CodeHub, agent: Agent, hub: Hub) -> None:
    """And nothing is started, nor left."""
    other = replace(start_of(code_hub, agent.name).message.spec, code="0" * 64)
    command = start_of(code_hub, agent.name)
    source = replace(code_hub.source, digest="0" * 64)
    message = replace(command.message, spec=other, code=source)
    ended = hub.carry_out(replace(command, message=message))
    assert ended["outcome"] == "refused"
    assert "does not have the job's code any more. Upload it again" in ended["reason"]
    assert not agent.bundle(message.attempt).folder.exists()


# -- what can go wrong --


def test_the_nodes_own_word_for_the_hub_counts(code_hub: CodeHub, config: Config) -> None:
    message = start_of(code_hub).message
    told = replace(message, code=replace(code_hub.source, hub="http://127.0.0.1:1"))
    settled = provide(told, replace(config, hub_url=code_hub.url))
    assert Path(settled.spec.script or "").is_file()


def test_a_hub_that_is_being_restarted_is_waited_for(code_hub: CodeHub, config: Config) -> None:
    code_hub.statuses = [503, 502]
    settled = provide(start_of(code_hub).message, config)
    assert Path(settled.spec.script or "").read_text() == "print('training')"
    assert len(code_hub.asked) == 3


def unreachable(hub: CodeHub) -> None:
    hub.url = "http://127.0.0.1:1"


def broken(hub: CodeHub) -> None:
    hub.statuses = [500] * code_cache.TRIES


def elsewhere(hub: CodeHub) -> None:
    hub.statuses = [302]


def unknown_ticket(hub: CodeHub) -> None:
    hub.statuses = [401]


def another_digest(hub: CodeHub) -> None:
    hub.content += b"x"


def too_large(hub: CodeHub) -> None:
    hub.content = bytes(MOST_BYTES + 1)


def no_address(hub: CodeHub) -> None:
    hub.url = ""


WRONG: dict[Callable[[CodeHub], None], tuple[type[Exception], str]] = {
    unreachable: (Failed, "Connection refused. Look whether node-a reaches the hub there"),
    broken: (Failed, "it answers with status 500"),
    elsewhere: (Refused, "got status 302"),
    unknown_ticket: (Refused, "does not let node-a have the job's code"),
    another_digest: (Refused, "is not the job's code: its digest is"),
    too_large: (Refused, "is larger than 64 MiB"),
    no_address: (Refused, "Set REGROUP_HUB_URL on the hub"),
}


@pytest.mark.parametrize("spoil", WRONG, ids=lambda spoil: spoil.__name__)
def test_what_goes_wrong_is_said_and_nothing_is_left(
    spoil: Callable[[CodeHub], None], code_hub: CodeHub, config: Config
) -> None:
    spoil(code_hub)
    kind, said = WRONG[spoil]
    with pytest.raises(kind) as problem:
        provide(start_of(code_hub).message, config)
    assert said in str(problem.value)
    assert "node-a" in str(problem.value)
    assert (left_in(config), list(config.data.glob("code/*"))) == ([], [])


def test_an_archive_that_leads_out_is_not_unpacked(code_hub: CodeHub, config: Config, tmp_path: Path) -> None:
    code_hub.content = make_zip(tmp_path / "bad.zip", ("../../out.py", b"x")).read_bytes()
    code_hub.digest = hashlib.sha256(code_hub.content).hexdigest()
    with pytest.raises(Refused, match="node-a does not unpack the job's code"):
        provide(start_of(code_hub).message, config)
    assert left_in(config) == []


def test_a_copy_that_was_spoilt_is_fetched_anew(code_hub: CodeHub, config: Config) -> None:
    provide(start_of(code_hub).message, config)
    (config.data / "code" / f"{code_hub.digest}.zip").write_bytes(b"half")
    settled = provide(start_of(code_hub).message, config)
    assert Path(settled.spec.script or "").is_file()
    assert len(code_hub.asked) == 2


def test_attempts_have_folders_of_their_own(code_hub: CodeHub, config: Config) -> None:
    first, second = (provide(start_of(code_hub).message, config) for _ in range(2))
    Path(first.spec.script or "").write_text("changed by its own job")
    assert Path(second.spec.script or "").read_text() == "print('training')"


def test_a_workdir_that_is_given_stays(code_hub: CodeHub, config: Config) -> None:
    settled = provide(start_of(code_hub, workdir="/srv").message, config)
    assert settled.spec.workdir == "/srv"
    assert (settled.spec.script or "").startswith(str(config.data))


def test_the_check_before_a_launch_fetches_the_code_once(code_hub: CodeHub, config: Config) -> None:
    def look(script: str) -> tuple[str, str]:
        request = CheckNode(id="1", run="r", step="look", script=script, code=code_hub.source)
        found = answer_check(request, config.data, "node-a", config.python, {}, config.hub_url).findings
        return next((one.verdict, one.says) for one in found if one.check == "script")

    assert look("train.py")[0] == "ok"
    assert look("tain.py") == ("fail", "The uploaded code has no tain.py.")
    assert len(code_hub.asked) == 1


def test_what_nobody_needs_is_forgotten(
    code_hub: CodeHub, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = provide(start_of(code_hub).message, config)
    half = config.data / "bundles" / "a-never-started" / ".code.unpacking"
    half.mkdir(parents=True)
    forget_code(config.data, older_than_s=3600)
    assert half.exists()
    assert list(config.data.glob("code/*.zip"))
    monkeypatch.setattr(code, "UNDERWAY_S", 0.0)
    forget_code(config.data, older_than_s=0)
    assert not half.exists()
    assert not list(config.data.glob("code/*.zip"))
    assert Path(settled.spec.script or "").is_file(), "a bundle goes with all that is in it, later"


def test_uploaded_code_runs_with_its_own_modules_in_its_own_folder(
    valkey: Valkey, start_agent: Callable[..., Agent], code_hub: CodeHub, tmp_path: Path
) -> None:
    """With the real runner, from the installed console script."""
    script = b"import os\nfrom lib.net import SAYS\nprint(SAYS, os.getcwd(), flush=True)\n"
    files = (("train.py", script), ("lib/net.py", b"SAYS = 'from the upload'\n"))
    code_hub.content = make_zip(tmp_path / "run.zip", *files).read_bytes()
    code_hub.digest = hashlib.sha256(code_hub.content).hexdigest()
    agent = start_agent(valkey, entry=Path(sys.executable).with_name("regroup-agent"))
    hub = Hub(valkey.redis, agent.name)
    command = start_of(code_hub, agent.name)
    assert hub.carry_out(command)["outcome"] == "done"
    attempt = command.message.attempt
    assert hub.wait_for("runner_finished", attempt=attempt)["outcome"] == "succeeded"
    bundle = agent.bundle(attempt)
    assert bundle.log(1, 0, "stdout").read_text() == f"from the upload {bundle.code}\n"
