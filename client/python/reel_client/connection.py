# SPDX-License-Identifier: Apache-2.0
"""A server's address, and the caller's credentials."""

from __future__ import annotations

import dataclasses
from typing import Optional

import grpc


@dataclasses.dataclass(frozen=True)
class Connection:
    server: str = "127.0.0.1:50051"  # host:port, or unix:/path
    token: Optional[str] = None
    tls: bool = False  # with the system's roots
    roots: Optional[bytes] = None  # PEM; implies tls

    def __post_init__(self) -> None:
        if self.token and not self.encrypted and not self.is_local:
            raise ValueError("a token is sent over TLS, loopback or a Unix socket only: set tls or roots")

    @property
    def encrypted(self) -> bool:
        return self.tls or self.roots is not None

    @property
    def is_local(self) -> bool:
        host = self.server.rpartition(":")[0]
        return self.server.startswith("unix:") or host in ("localhost", "[::1]") or host.startswith("127.")

    def credentials(self) -> Optional[grpc.ChannelCredentials]:
        return grpc.ssl_channel_credentials(self.roots) if self.encrypted else None

    def options(self) -> list[tuple[str, int]]:
        """A server that vanished is noticed within 40 s; pings closer than 20 s would be refused."""
        options = [("grpc.keepalive_time_ms", 30_000), ("grpc.keepalive_timeout_ms", 10_000), ("grpc.enable_retries", 0),
                   ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 2_000)]
        return options + ([("grpc.enable_http_proxy", 0)] if self.is_local else [])

    def metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()
