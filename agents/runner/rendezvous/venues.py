"""Which way leads to the meeting, by the job's ``rdzv_backend``."""

from __future__ import annotations

from ...wire.rdzv import RdzvConf, family
from ...wire.spec import JobSpec
from ..endpoint import split_endpoint
from .c10d import C10dVenue
from .meeting import Venue


def open_venue(endpoint: str, spec: JobSpec, conf: RdzvConf) -> Venue:
    """Nothing is connected yet."""
    if family(spec.rdzv_backend) == "etcd":
        # Only those who use etcd need its client.
        from .etcd.venue import EtcdVenue

        return EtcdVenue(endpoint, dict(spec.rdzv_conf), conf.join_timeout)
    host, port = split_endpoint(endpoint)
    return C10dVenue(host, port, conf)
