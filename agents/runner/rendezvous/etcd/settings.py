"""What ``rdzv_endpoint`` and ``rdzv_conf`` say of etcd. The files they name are looked at first."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from ....wire.rdzv import ConfError, RdzvConf, read_rdzv_conf
from ...endpoint import StoreError
from .endpoint import Endpoints, parse_endpoints


@dataclass(frozen=True)
class Settings:
    endpoints: Endpoints
    conf: RdzvConf
    is_secure: bool

    @property
    def where(self) -> str:
        """For sentences."""
        return f"etcd at {self.endpoints}"

    @property
    def key_file(self) -> str:
        """A certificate may have its key in the same file."""
        return self.conf.ssl_cert_key or self.conf.ssl_cert


def read_settings(endpoint: str, conf: dict[str, str]) -> Settings:
    """``conf``: ``rdzv_conf`` as the operator wrote it.

    Raises:
        StoreError: saying which part is wrong and what to write instead.
    """
    try:
        endpoints, read = parse_endpoints(endpoint), read_rdzv_conf(conf, "etcd")
    except ConfError as error:
        raise StoreError(str(error)) from error
    except ValueError as error:
        raise StoreError(f"rdzv_endpoint: {error}") from error
    settings = Settings(endpoints, read, _is_secure(endpoints, read, "protocol" in conf))
    _check(settings)
    return settings


def _is_secure(endpoints: Endpoints, conf: RdzvConf, is_said: bool) -> bool:
    if is_said and endpoints.protocol not in (None, conf.protocol):
        raise StoreError(
            f"rdzv_endpoint says {endpoints.protocol}:// and rdzv_conf protocol={conf.protocol}. "
            "Write one of them."
        )
    return (endpoints.protocol or conf.protocol) == "https"


def _check(settings: Settings) -> None:
    conf = settings.conf
    files = {"ca_cert": conf.ca_cert, "ssl_cert": conf.ssl_cert, "ssl_cert_key": conf.ssl_cert_key}
    given = [name for name, path in files.items() if path]
    if given and not settings.is_secure:
        raise StoreError(f"rdzv_conf has {', '.join(given)}, but no TLS to use it for. Add protocol=https.")
    if conf.ssl_cert_key and not conf.ssl_cert:
        raise StoreError("rdzv_conf has ssl_cert_key without ssl_cert. Name the certificate too.")
    if bool(conf.user) != bool(conf.password):
        raise StoreError("rdzv_conf has one of user and password. Write both or neither.")
    for name in given:
        _require_readable(name, files[name])
    if settings.is_secure:
        tls_context(settings)


def _require_readable(name: str, path: str) -> None:
    try:
        with Path(path).open("rb") as file:
            file.read(1)
    except OSError as error:
        raise StoreError(
            f"rdzv_conf has {name}={path}, which cannot be read on this node: {error.strerror}."
        ) from error


def tls_context(settings: Settings) -> ssl.SSLContext:
    """As the client will connect: with the given authority, or the machine's, and the given certificate.

    Raises:
        StoreError: a file does not hold what its name says.
    """
    conf = settings.conf
    try:
        context = ssl.create_default_context(cafile=conf.ca_cert or None)
    except ssl.SSLError as error:
        raise StoreError(
            f"rdzv_conf has ca_cert={conf.ca_cert}, which holds no certificate in PEM."
        ) from error
    if conf.ssl_cert:
        try:
            # Without a word for the password OpenSSL would ask the terminal for it.
            context.load_cert_chain(conf.ssl_cert, settings.key_file, password=lambda: "")
        except (ssl.SSLError, ValueError) as error:
            raise StoreError(
                f"rdzv_conf has ssl_cert={conf.ssl_cert} and the key {settings.key_file}, which are not a "
                "certificate and its own key in PEM, the key without a password."
            ) from error
    return context


def authorities(settings: Settings) -> bytes | None:
    """Certificates to trust, in PEM. None: the machine has none of its own to offer."""
    path = settings.conf.ca_cert or ssl.get_default_verify_paths().cafile
    return Path(path).read_bytes() if path and os.path.exists(path) else None
