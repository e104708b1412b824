# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus beside one server, on a free port and with a folder of its own."""

import contextlib
import json
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.request

from server import find_tool

START_SECONDS = 60


def watches(address):
    """It has scraped the server: what happens from now on, it sees."""
    try:
        with urllib.request.urlopen(f"http://{address}/api/v1/query?query=up", timeout=5) as answer:
            return any(sample["value"][1] == "1" for sample in json.load(answer)["data"]["result"])
    except OSError:
        return False


@contextlib.contextmanager
def prometheus(target, rules, interval):
    """Yields its address once it watches the server. `rules`: their text; `interval`: of scrapes and rules."""
    with tempfile.TemporaryDirectory(prefix="reel-prometheus-") as folder:
        rules_file, config = pathlib.Path(folder, "rules.yaml"), pathlib.Path(folder, "prometheus.yaml")
        rules_file.write_text(rules, encoding="utf-8")
        config.write_text(f"""
global: {{scrape_interval: {interval}, scrape_timeout: {interval}, evaluation_interval: {interval}}}
rule_files: [{rules_file}]
scrape_configs: [{{job_name: reel, static_configs: [{{targets: ["{target}"]}}]}}]
""", encoding="utf-8")
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        with open(pathlib.Path(folder, "log"), "wb") as log:
            process = subprocess.Popen([find_tool("prometheus"), f"--config.file={config}", f"--web.listen-address={address}",
                                        f"--storage.tsdb.path={folder}/data", "--log.level=warn"], stdout=log, stderr=log)
        try:
            end = time.monotonic() + START_SECONDS
            while not watches(address):
                assert time.monotonic() < end, f"no Prometheus: {pathlib.Path(folder, 'log').read_text()[-2000:]}"
                time.sleep(0.1)
            yield address
        finally:
            process.terminate()
            process.wait(30)
