# SPDX-License-Identifier: Apache-2.0
"""The failures that are worth another try, and the pause before it."""

from __future__ import annotations

import dataclasses
import random

from reel_client.errors import ReelError


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long a server that is down or busy is waited for."""

    attempts: int = 4  # of a call before its first answer
    resumes: int = 10  # of a stream, in a row without getting further
    first_pause: float = 0.1  # seconds, doubled from try to try
    longest_pause: float = 5.0
    longest_asked: float = 60.0  # a server that asks for more is not waited for


class Tries:
    """Of one call or stream."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._failures = 0  # in a row

    def progress(self) -> None:
        self._failures = 0

    def pause_after(self, error: ReelError, under_way: bool) -> float:
        """Seconds until the next try; raises `error` where there is none."""
        bare = not error.reason  # made up by a transport or a server in its last moment
        again = error.code == "UNAVAILABLE" or (bare and error.code == "CANCELLED")
        if under_way:
            again = again or (bare and error.code in ("INTERNAL", "UNKNOWN"))
        limit = self._patience.resumes if under_way else self._patience.attempts - 1
        asked = error.retry_after
        if not again or self._failures >= limit or (asked is not None and not 0 <= asked <= self._patience.longest_asked):
            raise error
        pause = min(self._patience.first_pause * 2**self._failures, self._patience.longest_pause) * random.uniform(0.8, 1.2)
        self._failures += 1
        return max(pause, asked or 0.0)
