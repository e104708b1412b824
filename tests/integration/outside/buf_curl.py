#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""buf curl, which knows nothing of Reel, lists every service and method by reflection, and calls one of each service."""

import json
import sys

from discover import SERVICES, declared_symbols
from server import find_tool, run, running_server, wait_until_serving


def main():
    buf = find_tool("buf")
    with running_server() as server:
        wait_until_serving(server)

        def curl(*arguments):
            return run(buf, "curl", "--protocol", "grpc", "--http2-prior-knowledge", *arguments)

        def call(method, request="{}"):
            return json.loads(curl("-d", request, f"http://{server.grpc}/{method}"))

        listed = curl("--list-services", f"http://{server.grpc}").split()
        assert sorted(listed) == SERVICES, f"it lists {listed}"
        methods = curl("--list-methods", f"http://{server.grpc}").split()
        declared = [symbol for symbol in declared_symbols() if symbol.split(".")[-2].endswith(("Service", "Health"))]
        missing = [symbol for symbol in declared if "/".join(symbol.rsplit(".", 1)) not in methods]
        assert declared and not missing, f"not listed: {missing}"
        assert call("grpc.health.v1.Health/Check")["status"] == "SERVING"
        assert call("reel.v1.ServerService/GetServerInfo")["version"]
        estimate = call("reel.v1.VideoService/EstimateVideo", json.dumps({"spec": {"prompt": "a red circle"}}))
        assert estimate["admissible"], estimate
    print(f"{len(listed)} services, {len(methods)} methods")


if __name__ == "__main__":
    sys.exit(main())
