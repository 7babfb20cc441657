"""The rendezvous in torchrun's words: which specs are taken, and what the refusal of others says."""

from __future__ import annotations

from typing import Any

import pytest

from agents.wire.rdzv import RdzvConf, read_rdzv_conf
from agents.wire.spec import JobSpec, SpecError, check_spec, read_endpoints

SCRIPT = "/data/train.py"


def refusal(**spec: Any) -> tuple[str, str]:
    with pytest.raises(SpecError) as caught:
        check_spec(JobSpec(script=SCRIPT, **spec))
    return caught.value.where, str(caught.value)


def test_without_a_word_it_is_torchs_defaults_with_a_quicker_keep_alive() -> None:
    assert read_rdzv_conf({}) == RdzvConf()
    assert (RdzvConf().join_timeout, RdzvConf().last_call_timeout) == (600, 30)
    assert (RdzvConf().keep_alive_interval, RdzvConf().keep_alive_max_attempt) == (1, 3)


@pytest.mark.parametrize(
    ("backend", "conf"),
    [
        ("c10d", {"is_host": "No", "store_type": "tcp", "read_timeout": "60"}),
        ("c10d", {"join_timeout": "60", "last_call_timeout": "1", "close_timeout": "9"}),
        ("c10d", {"heartbeat_timeout": "5", "keep_alive_interval": "5", "keep_alive_max_attempt": "3"}),
        ("static", {"timeout": "900"}),
        ("etcd", {"protocol": "https", "cacert": "/ca.pem", "cert": "/c.pem", "key": "/k.pem"}),
        ("etcd-v3", {"protocol": "HTTPS", "ca_cert": "/ca.pem", "ssl_cert": "/c.pem", "ssl_cert_key": "/k"}),
        ("etcd-v3", {"user": "u", "password": "p", "timeout": "60", "etcd_prefix": "/runs"}),
    ],
)
def test_every_key_that_torch_reads_is_taken(backend: str, conf: dict[str, str]) -> None:
    endpoint = "host" if backend.startswith("etcd") or "is_host" in conf else ""
    check_spec(JobSpec(script=SCRIPT, rdzv_backend=backend, rdzv_endpoint=endpoint, rdzv_conf=conf))
    read = read_rdzv_conf(conf, backend)
    assert read != RdzvConf()


def test_old_names_mean_the_new_ones() -> None:
    assert read_rdzv_conf({"timeout": "7", "cacert": "/a"}, "etcd") == RdzvConf(join_timeout=7, ca_cert="/a")


@pytest.mark.parametrize(
    ("backend", "key", "value", "says"),
    [
        ("c10d", "join_timout", "3", "'join_timout', which c10d does not know. It knows join_timeout"),
        ("c10d", "timeout", "900", "Write join_timeout"),
        ("c10d", "user", "x", "which c10d does not know"),
        ("c10d", "join_timeout", "0", "1 or more"),
        ("c10d", "join_timeout", "1.5", "whole seconds"),
        ("c10d", "is_host", "maybe", "true or false"),
        ("c10d", "store_type", "file", "runs tcp"),
        ("static", "rank", "1", "Regroup gives the ranks"),
        ("etcd", "protocol", "ftp", "runs http and https"),
        ("etcd", "is_host", "1", "which etcd does not know"),
    ],
)
def test_other_keys_and_values_are_refused_by_name(backend: str, key: str, value: str, says: str) -> None:
    endpoint = "etcd:2379" if backend == "etcd" else ""
    where, text = refusal(rdzv_backend=backend, rdzv_endpoint=endpoint, rdzv_conf={key: value})
    assert (where, key in text, says in text) == ("rdzv_conf", True, True)


def test_one_setting_under_two_names_is_refused() -> None:
    conf = {"cacert": "/a", "ca_cert": "/b"}
    where, text = refusal(rdzv_backend="etcd", rdzv_endpoint="e", rdzv_conf=conf)
    assert (where, "under two names" in text) == ("rdzv_conf", True)


@pytest.mark.parametrize(
    ("backend", "given", "read"),
    [
        ("c10d", "node-a", ("node-a:29400",)),
        ("static", "node-a", ("node-a:29500",)),
        ("etcd", "etcd-1, etcd-2:4000,[::1]", ("etcd-1:2379", "etcd-2:4000", "[::1]:2379")),
        ("etcd-v3", "etcd-1", ("etcd-1:2379",)),
        ("c10d", "", ()),
    ],
)
def test_a_port_that_is_left_out_is_the_backends_own(backend: str, given: str, read: tuple[str, ...]) -> None:
    assert read_endpoints(JobSpec(rdzv_backend=backend, rdzv_endpoint=given)) == read


@pytest.mark.parametrize(
    ("spec", "where", "says"),
    [
        ({"rdzv_backend": "etcd-v2"}, "rdzv_backend", "v2 API, which is off since etcd 3.4"),
        ({"rdzv_backend": "mpi"}, "rdzv_backend", "Write one of c10d, etcd, etcd-v3, static"),
        ({"rdzv_backend": "etcd"}, "rdzv_endpoint", "rdzv_endpoint has to name it"),
        ({"rdzv_conf": {"is_host": "0"}}, "rdzv_endpoint", "Name in rdzv_endpoint who does"),
        ({"rdzv_endpoint": "::1:29400"}, "rdzv_endpoint", "Write [::1]:29400."),
        ({"rdzv_endpoint": "a,b"}, "rdzv_endpoint", "names several, and c10d has one"),
        (
            {"rdzv_backend": "static", "nnodes": "1:2"},
            "nnodes",
            "a fixed number of nodes. Write 2",
        ),
        ({"standalone": True, "nnodes": "2"}, "nnodes", "standalone is one node"),
        ({"standalone": True, "rdzv_endpoint": "a:1"}, "standalone", "on localhost"),
        ({"start": "spawn"}, "start", "Write preload or exec"),
        ({"preload": ("torch", "not a name")}, "preload", "names of Python modules"),
    ],
)
def test_a_spec_that_cannot_meet_is_refused(spec: dict[str, Any], where: str, says: str) -> None:
    field, text = refusal(**spec)
    assert (field, says in text) == (where, True), text


@pytest.mark.parametrize("spec", [{"standalone": True}, {"rdzv_backend": "static", "nnodes": "3"}])
def test_standalone_and_static_are_taken(spec: dict[str, Any]) -> None:
    check_spec(JobSpec(script=SCRIPT, **spec))
    with pytest.raises(SpecError):
        check_spec(JobSpec(script=SCRIPT, **{**spec, "nnodes": "1:2"}))
