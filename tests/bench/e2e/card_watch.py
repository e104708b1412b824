# SPDX-License-Identifier: Apache-2.0
"""Clocks, watts and temperature of a GPU while something runs on it, from nvidia-smi; nothing where there is none."""

import statistics
import subprocess
import threading
import time

QUERY = {"sm_mhz": "clocks.sm", "memory_mhz": "clocks.mem", "watts": "power.draw", "celsius": "temperature.gpu"}


def card_facts(index: int) -> dict:
    fields = ["name", "driver_version", "power.limit", "clocks.max.sm"]
    try:
        said = subprocess.run(["nvidia-smi", "-i", str(index), f"--query-gpu={','.join(fields)}", "--format=csv,noheader"],
                              capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(zip(fields, (part.strip() for part in said.strip().split(","))))


class CardWatch:
    """Samples from entering to leaving, some ten a second."""

    def __init__(self, index: int):
        self._index, self._process, self._samples = index, None, []

    def __enter__(self):
        try:
            self._process = subprocess.Popen(
                ["nvidia-smi", "-i", str(self._index), f"--query-gpu={','.join(QUERY.values())}", "--format=csv,noheader,nounits",
                 "-lms", "100"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            return self
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def _read(self):
        for line in self._process.stdout:
            try:
                values = [float(part) for part in line.split(",")]
            except ValueError:  # "[N/A]", or a message
                continue
            self._samples.append((time.monotonic(), dict(zip(QUERY, values))))

    def between(self, begin: float, end: float) -> dict:
        """Medians of the samples in a span of time.monotonic()."""
        seen = [sample for when, sample in self._samples if begin <= when <= end]
        return {key: statistics.median(sample[key] for sample in seen) for key in QUERY} if seen else {}

    def __exit__(self, *_):
        if self._process:
            self._process.terminate()
            self._process.wait()
            self._thread.join()
