# SPDX-License-Identifier: Apache-2.0
"""The details of a server's error beyond its code and message."""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple, Optional

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2


class Violation(NamedTuple):
    field: str  # path in the request, e.g. "spec.width"
    description: str
    reason: str = ""  # for programs, e.g. "ADAPTER_UNKNOWN"; empty: there is none


class Broken(Exception):
    """The stream is not as it should be, and is worth another try."""


class ReelError(Exception):
    """An answer that is not OK, or a transport that stayed broken."""

    def __init__(self, code: str, message: str, details: Iterable[any_pb2.Any] = ()) -> None:
        super().__init__(message)
        self.code = code  # of gRPC, e.g. "INVALID_ARGUMENT"
        self.message = message
        self.reason = ""  # of proto/README.md, e.g. "INVALID_SPEC"; empty: not from Reel
        self.metadata: dict[str, str] = {}
        self.violations: list[Violation] = []
        self.retry_after: Optional[float] = None  # seconds
        for detail in details:
            self._take(detail)

    def _take(self, detail: any_pb2.Any) -> None:
        info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            self.reason, self.metadata = info.reason, dict(info.metadata)
        elif detail.Unpack(bad):
            self.violations += [Violation(v.field, v.description, getattr(v, "reason", "")) for v in bad.field_violations]
        elif detail.Unpack(retry):
            self.retry_after = retry.retry_delay.ToTimedelta().total_seconds()

    def __str__(self) -> str:
        return "\n  ".join([self.message, *(f"{v.field}: {v.description}" for v in self.violations)])


def error_of(failure: Any) -> ReelError:
    """Of a grpc.RpcError of either kind, or of a stream that broke."""
    if isinstance(failure, ReelError):
        return failure
    if isinstance(failure, Broken):
        return ReelError("UNAVAILABLE", str(failure))
    status, pushback = status_pb2.Status(), None
    for key, value in failure.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status.MergeFromString(value)
        elif key == "grpc-retry-pushback-ms":
            pushback = int(value) / 1000
    code, message = failure.code().name, failure.details() or ""
    if code == "INTERNAL" and message == "Internal error from Core":
        # gRPC's asyncio calls end so if the server answers while they still send; its answer is lost.
        code, message = "UNAVAILABLE", "the server ended the call before all was sent, and gRPC lost what it said"
    error = ReelError(code, message, status.details)
    if pushback is not None:
        error.retry_after = pushback
    return error


def is_broken(failure: BaseException) -> bool:
    return isinstance(failure, (Broken, grpc.RpcError))
