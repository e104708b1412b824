#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grpcurl, which knows nothing of Reel, lists every service and describes every symbol of the public API."""

import json
import re
import sys

from server import ROOT, find_tool, run, running_server, snake_keys, wait_until_serving

SERVICES = ["grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection", "reel.v1.ServerService", "reel.v1.VideoService"]


def declared_symbols():
    """Services, methods, messages and enums of the protos that face the world."""
    for path in sorted([*(ROOT / "proto/reel/v1").glob("*.proto"), ROOT / "proto/grpc/health/v1/health.proto"]):
        text = path.read_text(encoding="utf-8")
        package = re.search(r"^package ([\w.]+);", text, re.MULTILINE)[1]
        for kind, name in re.findall(r"^(service|message|enum) (\w+)", text, re.MULTILINE):
            yield f"{package}.{name}"
            if kind == "service":
                body = text[text.index(f"service {name}"):]
                body = body[:body.index("\n}")]
                yield from (f"{package}.{name}.{method}" for method in re.findall(r"^  rpc (\w+)", body, re.MULTILINE))


def parsed(text):
    return json.loads(text, object_hook=snake_keys)


def main():
    grpcurl = find_tool("grpcurl")
    with running_server() as server:
        listed = run(grpcurl, "-plaintext", server.grpc, "list").split()
        assert sorted(listed) == SERVICES, f"list gives {listed}"
        symbols = list(declared_symbols())
        assert len(symbols) > 60, f"only {len(symbols)} symbols were found in the protos"
        for symbol in symbols:
            text = run(grpcurl, "-plaintext", server.grpc, "describe", symbol)
            assert symbol in text, f"describe {symbol} gives {text}"
        wait_until_serving(server)
        info = parsed(run(grpcurl, "-plaintext", server.grpc, "reel.v1.ServerService/GetServerInfo"))
        assert info["version"] and info["workers"], info
        models = parsed(run(grpcurl, "-plaintext", server.grpc, "reel.v1.ServerService/ListModels"))
        assert models["models"][0]["is_default"], models
        request = json.dumps({"spec": {"prompt": "a red circle"}})
        estimate = parsed(run(grpcurl, "-plaintext", "-d", request, server.grpc, "reel.v1.VideoService/EstimateVideo"))
        assert estimate["admissible"] and estimate["spec"]["width"] > 0, estimate
    print(f"{len(listed)} services, {len(symbols)} symbols, server {info['version']}")


if __name__ == "__main__":
    sys.exit(main())
