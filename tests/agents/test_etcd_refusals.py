"""What a runner says when etcd cannot be used, before anything is launched."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.runner.endpoint import StoreError
from agents.runner.rendezvous.etcd.venue import EtcdVenue
from tests.agents.etcd_runs import SHORT, attempt_over, start
from tests.etcd import BINARIES, Authority, Etcd, add_user, run_etcd
from tests.valkey import free_port


@pytest.fixture(scope="module", params=BINARIES, ids=lambda path: path.parent.parent.name)
def etcd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    with run_etcd(tmp_path_factory.mktemp("plain"), request.param) as server:
        yield server


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def authority(files: Path) -> Authority:
    return Authority(files)


@pytest.fixture(scope="module")
def tls_etcd(etcd: Etcd, authority: Authority, files: Path) -> Iterator[Etcd]:
    """One that wants a certificate of its clients, with users."""
    certificate, key = authority.issue("server")
    mine, my_key = authority.issue("operator")
    flags = {"cert-file": str(certificate), "key-file": str(key), "trusted-ca-file": str(authority.file)}
    ctl = ("--cacert", str(authority.file), "--cert", str(mine), "--key", str(my_key))
    flags["client-cert-auth"] = "true"
    folder = files / etcd.binary.parent.parent.name
    folder.mkdir()
    with run_etcd(folder, etcd.binary, "https", flags, ctl) as server:
        add_user(server, "trainer", "pass word", "/torch/elastic/")
        yield server


@pytest.fixture
def tls_conf(authority: Authority) -> dict[str, str]:
    certificate, key = authority.issue("node")
    return {
        "protocol": "https",
        "cacert": str(authority.file),
        "cert": str(certificate),
        "key": str(key),
        "user": "trainer",
        "password": "pass word",
    }


def refusal(endpoint: str, conf: dict[str, str], join_timeout_s: int = 20) -> str:
    with pytest.raises(StoreError) as caught:
        EtcdVenue(endpoint, conf, join_timeout_s).open("refused", lambda seconds: None)
    return str(caught.value)


def test_with_tls_a_certificate_and_a_user_it_trains(
    tls_etcd: Etcd, tls_conf: dict[str, str], tmp_path: Path
) -> None:
    with attempt_over(tls_etcd.endpoint, tmp_path, rdzv_conf=tls_conf, args=SHORT) as attempt:
        for runner in start(attempt, "node-a", "node-b"):
            assert runner.finish()["outcome"] == "succeeded"
    assert tls_etcd.keys() == {}


def test_a_wrong_password_ends_the_runner_with_the_reason(
    tls_etcd: Etcd, tls_conf: dict[str, str], tmp_path: Path
) -> None:
    conf = {**tls_conf, "password": "guessed"}
    with attempt_over(tls_etcd.endpoint, tmp_path, rdzv_conf=conf) as attempt:
        (runner,) = start(attempt, "node-a", nodes=("node-a", "node-b"))
        last = runner.finish()
    assert last["outcome"] == "failed"
    assert last["reason"] == (
        f"etcd at {tls_etcd.endpoint} refuses the user or the password. Correct user and password in "
        "rdzv_conf."
    )
    assert "guessed" not in runner.bundle.own_log.read_text()


def test_an_etcd_that_nobody_can_reach_ends_the_runner_with_the_reason(tmp_path: Path) -> None:
    endpoint = f"127.0.0.1:{free_port()}"
    with attempt_over(endpoint, tmp_path, rdzv_conf={"join_timeout": "2"}) as attempt:
        (runner,) = start(attempt, "node-a", nodes=("node-a", "node-b"))
        last = runner.finish()
    assert last["reason"] == (
        f"etcd at {endpoint} cannot be reached: Connection refused. See whether it runs and its port is "
        "open. It was tried for 2 s."
    )


def test_an_authority_that_did_not_sign_it_is_named(
    tls_etcd: Etcd, tls_conf: dict[str, str], tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger").file
    said = refusal(tls_etcd.endpoint, {**tls_conf, "cacert": str(stranger)})
    assert f"is not one that ca_cert={stranger} vouches for" in said


def test_a_client_without_its_certificate_is_told_so(tls_etcd: Etcd, tls_conf: dict[str, str]) -> None:
    conf = {key: value for key, value in tls_conf.items() if key not in ("cert", "key")}
    assert "does not accept a client without a certificate" in refusal(tls_etcd.endpoint, conf)


def test_plain_http_to_a_server_with_tls_is_named(tls_etcd: Etcd) -> None:
    assert "speaks TLS. Add protocol=https" in refusal(tls_etcd.endpoint, {})


def test_tls_to_a_server_without_it_is_named(etcd: Etcd, authority: Authority) -> None:
    said = refusal(etcd.endpoint, {"protocol": "https", "ca_cert": str(authority.file)})
    assert "speaks plain http, not TLS. Leave protocol=https out" in said


def test_a_user_where_there_are_none_is_named(etcd: Etcd) -> None:
    assert "its authentication is off" in refusal(etcd.endpoint, {"user": "trainer", "password": "x"})


def test_a_user_who_may_not_write_there_is_named(tls_etcd: Etcd, tls_conf: dict[str, str]) -> None:
    said = refusal(tls_etcd.endpoint, {**tls_conf, "etcd_prefix": "/elsewhere"})
    assert said.endswith("Grant it readwrite on the prefix /elsewhere/.")


def test_a_full_etcd_is_named_as_such(etcd: Etcd, tmp_path: Path) -> None:
    with run_etcd(tmp_path, etcd.binary, flags={"quota-backend-bytes": str(64 * 1024)}) as small:
        wait_full(small)
        assert "its space alarm (NOSPACE) is on" in refusal(small.endpoint, {})


def wait_full(server: Etcd) -> None:
    for number in range(200):
        if server.run_ctl("put", f"fill/{number}", "x" * 16_000).returncode != 0:
            break
    assert "NOSPACE" in server.say("alarm", "list")


@pytest.fixture
def old_etcd() -> Iterator[str]:
    """Answers as etcd 2 does: over http alone, with its version."""
    body = b'{"etcdserver":"2.3.8","etcdcluster":"2.3.0"}'
    head = b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer_all, args=(listener, head + body), daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def answer_all(listener: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(4096)
            connection.sendall(answer)


def test_an_etcd_without_the_v3_api_is_named(old_etcd: str) -> None:
    assert refusal(old_etcd, {}) == (
        f"etcd at {old_etcd} is version 2.3.8 and speaks the v2 API alone. Version 3.4 or newer is needed."
    )


@pytest.mark.parametrize(
    ("endpoint", "conf", "said"),
    [
        ("::1", {}, "can be read in more than one way. Write [::1]:2379"),
        ("etcd-a,http://etcd-b", {}, "mixes protocols"),
        ("ftp://etcd-a", {}, "Write http:// or https://"),
        ("https://etcd-a", {"protocol": "http"}, "Write one of them"),
        ("etcd-a", {"ca_cert": "/nowhere/ca.pem"}, "Add protocol=https"),
        ("https://etcd-a", {"ca_cert": "/nowhere/ca.pem"}, "cannot be read on this node: No such file"),
        ("https://etcd-a", {"cacert": __file__}, "which holds no certificate in PEM"),
        ("https://etcd-a", {"cert": __file__}, "not a certificate and its own key"),
        ("https://etcd-a", {"key": __file__}, "ssl_cert_key without ssl_cert"),
        ("etcd-a", {"user": "trainer"}, "one of user and password"),
        ("etcd-a", {"colour": "blue"}, "'colour'"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_connecting(
    endpoint: str, conf: dict[str, str], said: str
) -> None:
    assert said in refusal(endpoint, conf)


def test_without_python_etcd3_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "etcd3", None)
    said = refusal("etcd-a", {})
    assert said.startswith("etcd features off: python-etcd3 cannot be imported by")
    assert said.endswith("pip install 'regroup-agent[etcd]'.")
