# SPDX-License-Identifier: Apache-2.0
"""Generates into the wheel what is not written twice: the protocol, from proto/ of the tree, and the client for asyncio,
from the one that blocks."""

import pathlib
import re
import subprocess
import sys

import setuptools
from setuptools.command.build_py import build_py

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
# What an awaiting client says otherwise.
AWAITED = (
    (r'^""".*"""$', '"""The client for asyncio: `Client`, awaited. Belongs to one event loop."""'),
    (r"^import time$", "import asyncio"),
    (r'class Client:', "class AsyncClient:"),
    (r'"Client"', '"AsyncClient"'),
    # Without it an interpreter that ends may wait for gRPC's polling thread for ever (grpc/grpc, issue 22365).
    (r"^( +)self\._patience = patience$", r"\1self._patience = patience\n\1grpc.aio.init_grpc_aio()  # see setup.py"),
    (r"\bgrpc\.(in)?secure_channel", r"grpc.aio.\1secure_channel"),
    (r"\bGenerator\[(.*), None, None\]", r"AsyncGenerator[\1, None]"),
    (r"\bGenerator\b", "AsyncGenerator"),
    (r"^    def (?!__init__|generate|watch)(?:__(\w+)__)?", lambda m: f"    async def {f'__a{m[1]}__' if m[1] else ''}"),
    (r"\btime\.sleep\(", "await asyncio.sleep("),
    (r"\breturn (self\.call\(.*\))\.video$", r"return (await \1).video"),
    (r"(?<!await )\bself\.(call|close|upload|_ahead|_channel\.close)\(", r"await self.\1("),
    (r"\breturn method\(", "return await method("),
    (r"\banswer = self\.", "answer = await self."),
    (r"\bevents\.close\(", "await events.aclose("),
    (r"\bfor (\w+) in (call|events):", r"async for \1 in \2:"),
)


def awaited(text):
    for pattern, replacement in AWAITED:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


class BuildWithProtocol(build_py):
    def run(self):
        super().run()
        if not PROTO.is_dir():
            raise SystemExit(f"setup: there is no {PROTO}; reel-client is built in its tree")
        out = pathlib.Path(self.build_lib)
        client = out / "reel_client"
        (client / "aio.py").write_text(awaited((client / "client.py").read_text()))
        package = out / "reel/v1"
        package.mkdir(parents=True, exist_ok=True)
        for marker in (out / "reel/__init__.py", package / "__init__.py", package / "py.typed"):
            marker.write_text("")
        # google/rpc is another package's, which brings its own code.
        files = sorted(str(path.relative_to(PROTO)) for path in (PROTO / "reel/v1").glob("*.proto"))
        subprocess.run([sys.executable, "-m", "grpc_tools.protoc", "-I", str(PROTO), f"--python_out={out}",
                        f"--pyi_out={out}", f"--grpc_python_out={out}", *files], check=True)


setuptools.setup(cmdclass={"build_py": BuildWithProtocol})
