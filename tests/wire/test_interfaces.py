"""Which of a node's network interfaces a job's ``interface`` means."""

from __future__ import annotations

import pytest

from agents.wire.interfaces import Interface, choose, variables_for
from agents.wire.spec import JobSpec, SpecError, check_spec

PRESENT = (
    Interface(name="docker0", addresses=("172.17.0.1",), sort="bridge"),
    Interface(name="eth0", addresses=("10.0.0.2",), speed_mbps=25_000),
    Interface(name="eth01", addresses=("10.2.0.2",)),
    Interface(name="ib0", addresses=("10.1.0.2", "fd00::2"), speed_mbps=200_000),
    Interface(name="ib1", addresses=("10.1.0.3",), is_up=False),
    Interface(name="ib2", addresses=("10.1.0.4",)),
    Interface(name="lo", addresses=("127.0.0.1", "::1"), sort="loopback"),
)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("auto", ("eth0",)),
        ("eth0", ("eth0",)),
        ("eth", ("eth0", "eth01")),
        ("ib", ("ib0", "ib2")),
        ("=ib", ()),
        ("=ib0", ("ib0",)),
        ("ib2,eth0", ("eth0", "ib2")),
        ("ib1", ()),
        ("l", ()),
        ("lo", ("lo",)),
        ("^docker,ib", ("eth0", "eth01")),
        ("10.1.0.0/16", ("ib0", "ib2")),
        ("fd00::/8", ("ib0",)),
        ("192.168.0.0/24", ()),
        ("wlan", ()),
    ],
)
def test_what_is_written_means_these_the_one_with_the_nodes_address_first(
    wanted: str, names: tuple[str, ...]
) -> None:
    check_spec(JobSpec(script="/srv/train.py", interface=wanted))
    assert choose(wanted, PRESENT, {"10.0.0.2"}) == names


WRONG = ["", "two words", "10.0.0.0/99", "/dev/ib0", "eth0,,ib0", "a-name-that-is-too-long"]


@pytest.mark.parametrize("text", WRONG)
def test_what_names_no_interface_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(SpecError, match="Write a name such as eth0") as refused:
        check_spec(JobSpec(script="/srv/train.py", interface=text))
    assert refused.value.where == "interface"


def test_nccl_gets_all_of_them_as_whole_names_and_gloo_the_first() -> None:
    assert variables_for(("ib0", "ib2")) == {"GLOO_SOCKET_IFNAME": "ib0", "NCCL_SOCKET_IFNAME": "=ib0,ib2"}
    assert variables_for(()) == {}
