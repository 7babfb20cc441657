"""An S3 of the tests' own on loopback: it checks signatures by botocore's signer, and has all in memory."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]  # it brings no types
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]

KEY, SECRET = "AKIATESTKEY", "the secret of the tests"
SIGNED = re.compile(r"Credential=(?P<key>[^/]+)/\d+/(?P<region>[^/]+)/s3/.*SignedHeaders=(?P<names>[^,]+)")


class S3Server:
    """``stop`` frees its port, so that nobody answers there."""

    def __init__(self, bucket: str) -> None:
        self.bucket = bucket
        self.objects: dict[str, bytes] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"s3": self}))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    s3: S3Server
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        bucket, _, key = unquote(urlsplit(self.path).path).lstrip("/").partition("/")
        refusal = self._refusal()
        if refusal is not None:
            self._say(403, _error(refusal))
        elif bucket != self.s3.bucket:
            self._say(404, _error("NoSuchBucket"))
        elif self.command == "PUT":
            self.s3.objects[key] = body
            self._say(200, b"")
        elif key not in self.s3.objects:
            self._say(404, _error("NoSuchKey"))
        elif self.command == "DELETE":
            del self.s3.objects[key]
            self._say(204, b"")
        else:
            self._give(self.s3.objects[key])

    do_GET = do_PUT = do_HEAD = do_DELETE = _answer

    def _give(self, data: bytes) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if wanted is None:
            self._say(200, data)
            return
        first, last = int(wanted[1]), min(int(wanted[2] or len(data)), len(data) - 1)
        self._say(206, data[first : last + 1], {"Content-Range": f"bytes {first}-{last}/{len(data)}"})

    def _refusal(self) -> str | None:
        told = self.headers.get("Authorization") or ""
        claim = SIGNED.search(told)
        if claim is None:
            return "AccessDenied"
        if claim["key"] != KEY:
            return "InvalidAccessKeyId"
        return None if told.endswith(f"Signature={self._sign(claim)}") else "SignatureDoesNotMatch"

    def _sign(self, claim: re.Match[str]) -> str:
        headers = {name: self.headers[name] for name in claim["names"].split(";")}
        request = AWSRequest(self.command, f"{self.s3.url}{self.path}", headers=headers)
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        signer = S3SigV4Auth(Credentials(KEY, SECRET), "s3", claim["region"])
        text = signer.string_to_sign(request, signer.canonical_request(request))
        return str(signer.signature(text, request))

    def _say(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Nobody reads it."""


def _error(code: str) -> bytes:
    text = f"This request was refused, with {KEY} in it."
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{text}</Message></Error>".encode()
