"""A small hub on a port of its own, with one job that a test writes as it goes.

It answers as the real one does where the command line looks: cursors of events, byte offsets of logs, whole
lines only, a last line without an end once its writer has paused.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]

TOKEN = "a-good-token"


def read_form(headers: Message, body: bytes) -> list[tuple[str, str, bytes]]:
    """Name, file name and content of each part of a form."""
    whole = message_from_bytes(f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode() + body)
    parts = cast(list[Message], whole.get_payload())
    return [
        (
            str(part.get_param("name", header="content-disposition")),
            part.get_filename() or "",
            cast(bytes, part.get_payload(decode=True)),
        )
        for part in parts
    ]


RESTARTS: Json = {"failure": 0, "membership": 0, "max_restarts": 3, "remaining": 3, "by_node": {}}
SPEC: Json = {
    "redirects": "0",
    "tee": "0",
    "local_ranks_filter": "",
    "role": "default",
    "log_line_prefix_template": None,
    "env": {},
    "script": "train.py",
}


def new_job() -> Json:
    return {
        "id": 7,
        "name": "tiny",
        "state": "running",
        "state_reason": "It runs.",
        "headline": {"sentence": "It runs.", "since": "2026-01-01T00:00:00Z"},
        "attempt": 1,
        "attempt_id": "a1",
        "round": 1,
        "attempts": [{"id": "a1", "number": 1, "nodes": ["node-1"], "rounds": 1}],
        "nodes": {"min": 1, "max": 2, "wanted": 1, "formed": 1, "alive": 1},
        "world_size": 1,
        "workers_alive": 1,
        "workers": [],
        "restarts": RESTARTS,
        "step": None,
        "total": None,
        "metrics": {},
        "checkpoint_step": None,
        "troubles": [],
        "failure": None,
        "created_by": "anna",
        "created_at": "2026-01-01T00:00:00Z",
        "ended_at": None,
        "last_event": 0,
        "spec": SPEC,
    }


@dataclass
class HubServer:
    job: Json = field(default_factory=new_job)
    events: list[Json] = field(default_factory=list)
    logs: dict[tuple[int, int, str], bytes] = field(default_factory=dict)
    """Round, rank, stream → what the worker wrote."""
    is_paused: bool = True
    """No worker has written for a second."""
    fails: int = 0
    """So many requests are answered 503 before it is well again."""
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)
    """``METHOD path`` → status and body, where a test wants another than the usual one."""
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    url: str = ""

    def start_round(self, number: int, ranks: int = 1) -> None:
        workers = [{"rank": rank, "local_rank": rank, "pid": 100 + rank} for rank in range(ranks)]
        self.record("workers_started", round=number, workers=workers)

    def end_worker(self, number: int, rank: int = 0) -> None:
        self.record("worker_exited", round=number, worker={"rank": rank})

    def record(self, kind: str, **body: Any) -> None:
        event = {
            "cursor": len(self.events) + 1,
            "kind": kind,
            "node": "node-1",
            "attempt": "a1",
            "body": body,
        }
        self.events.append(event)

    def write(self, number: int, rank: int, stream: str, text: str) -> None:
        self.logs[number, rank, stream] = self.logs.get((number, rank, stream), b"") + text.encode()

    def end(self, state: str, reason: str = "It is over.") -> None:
        self.job |= {"state": state, "state_reason": reason, "headline": {"sentence": reason, "since": ""}}

    # -- answers --

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        self.asked.append((method, path, body))
        if self.fails:
            self.fails -= 1
            return 503, {"what": "The database does not answer.", "reason": "database_unavailable"}
        if (special := self.answers.get(f"{method} {path}")) is not None:
            return special
        match method, path.removeprefix("/api"):
            case "GET", "/jobs/7":
                return 200, self.job
            case "GET", "/jobs/7/events":
                return 200, self._events(int(query["after"]), int(query["limit"]))
            case "GET", "/jobs/7/logs":
                return 200, self._log(query)
        return 404, {"what": f"There is nothing at {path}.", "reason": "not_found"}

    def _events(self, after: int, limit: int) -> Json:
        items = [one for one in self.events if one["cursor"] > after][:limit]
        return {"items": items, "next": str(items[-1]["cursor"] if items else after)}

    def _log(self, query: dict[str, str]) -> Json:
        data = self.logs.get((int(query["round"]), int(query["rank"]), query["stream"]))
        if data is None:
            return {"items": [], "next": None, "problem": "node-1 has no such file yet."}
        start, items = int(query["after"]), []
        for raw in data[start:].splitlines(keepends=True)[: int(query["limit"])]:
            if raw.endswith(b"\n") or self.is_paused:
                items.append({"offset": start, "text": raw.decode("utf-8", "replace").rstrip("\n")})
                start += len(raw)
        return {"items": items, "next": str(start), "problem": None}


@contextmanager
def serve(hub: HubServer) -> Iterator[HubServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._do(None)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_form = str(self.headers["Content-Type"]).startswith("multipart/")
            self._do(read_form(self.headers, body) if is_form else json.loads(body or b"null"))

        def _do(self, body: Any) -> None:
            parts = urlsplit(self.path)
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            if self.headers["Authorization"] == f"Bearer {TOKEN}":
                status, answer = hub.answer(self.command, parts.path, query, body)
            else:
                status, answer = (
                    401,
                    {"what": "The request carries no valid token.", "reason": "not_authenticated"},
                )
            text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "https://elsewhere.example.org/")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
