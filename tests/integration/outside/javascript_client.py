#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reel-client for JavaScript as a stranger has it: packed, installed in an empty folder, and run in Node against a real reeld, also
through connections that break, and so are the lines of its README; TypeScript checks its types. Nothing is fetched.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

from cut_proxy import CutProxy
from python_client import CARD
from server import ROOT, find_tool, run, running_server, skip, wait_until_serving

# Bytes, of the first connections: in the answer of create, early in the file, in the middle of it; and in the events.
FILE_CUTS, EVENT_CUTS = (100, 2_000, 100_000), (300, 3_000)
# What types must accept, and what they must not.
TYPED = """
import { ReelClient, ReelError, condition, extension, refinement, retake, type Video, type VideoSpec } from 'reel-client';
import { save, uploadFile } from 'reel-client/node';
const spec: VideoSpec = { prompt: 'a', width: 256, seed: '7', kernels: { profile: 'auto', variants: { rms_norm: 'sm90' } } };
const reel = new ReelClient();
const video: Video = await save(reel, spec, 'a.mp4', { labels: { a: 'b' }, onEvent: (event) => event.progress?.fraction });
for await (const event of reel.events(video.name!)) if (event.finished?.state === 'VIDEO_STATE_SUCCEEDED') break;
await reel.create({ prompt: 'a', conditions: [await condition(new Blob([]), { frameIndex: 8 })] });
await reel.create(extension(video, 72, { prompt: 'b', overlapFrames: 9 }));
await reel.create(retake('videos/a', 0.5, 1, { keepSound: true, seed: '7' }));
const uploaded = await uploadFile(reel, 'a.mp4', { onProgress: (sent, size) => sent / size });
await reel.create({ prompt: 'a', conditions: [{ file: uploaded.name }] });
await reel.create(await refinement(new Blob([]), { strength: 0.5, width: 512 }));
// @ts-expect-error an extension has frames
await reel.create(extension(video, { prompt: 'b' }));
// @ts-expect-error there is no such field
await reel.create({ promt: 'a' });
// @ts-expect-error there is no such state
for await (const one of reel.list({ states: ['DONE'] })) console.log(one, ReelError);
"""


def install(scratch):
    """An empty folder with nothing but the package."""
    tree = scratch / "tree"  # packing writes the types beside the sources
    shutil.copytree(ROOT / "client/javascript", tree / "client/javascript")
    shutil.copytree(ROOT / "proto", tree / "proto")
    packed = run("npm", "pack", "--silent", "--pack-destination", scratch, cwd=tree / "client/javascript").split()[-1]
    folder = scratch / "stranger"
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"type": "module", "private": True}))
    run("npm", "install", "--offline", "--silent", "--no-audit", "--no-fund", scratch / packed, cwd=folder)
    return folder


def answer_bytes(server):
    """How long the answer is with which an upload begins: what the server is."""
    host, port = server.http.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"GET /reel/v1/server HTTP/1.1\r\nHost: {server.http}\r\nConnection: close\r\n\r\n".encode())
        return sum(len(piece) for piece in iter(lambda: connection.recv(65536), b""))


def check_types(folder):
    tsc = ROOT / ".deps/npm/node_modules/typescript/bin/tsc"
    if not tsc.is_file():
        return "types not checked: typescript is not installed"
    (folder / "typed.ts").write_text(TYPED)
    run(find_tool("node"), tsc, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable,dom.asynciterable",
        "typed.ts", cwd=folder)
    return "types checked"


def main():
    node = find_tool("node")
    find_tool("npm")
    if int(subprocess.run([node, "-p", "process.versions.node"], capture_output=True, text=True, check=True).stdout.split(".")[0]) < 18:
        skip("Node is older than 18")
    example = re.search(r"```js\n(.*?)```", (ROOT / "client/javascript/README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    assert "'http://127.0.0.1:8080'" in example
    with tempfile.TemporaryDirectory(prefix="reel-javascript-") as name, running_server("--http", "127.0.0.1:0", config=CARD) as server:
        folder = install(pathlib.Path(name))
        wait_until_serving(server)
        (folder / "use.js").write_text((ROOT / "tests/integration/outside/clients/use_javascript.js").read_text(encoding="utf-8"))
        (folder / "readme.js").write_text(example.replace("127.0.0.1:8080", server.http))
        upload_cuts = (answer_bytes(server) + 100, 100)  # in the answer to the file itself, whether or not it has a connection of its own
        with CutProxy(server.http, FILE_CUTS) as file, CutProxy(server.http, EVENT_CUTS) as events, CutProxy(server.http, upload_cuts) as upload:
            run(node, "use.js", *(f"http://{proxy}" for proxy in (server.http, file.address, events.address, upload.address)), cwd=folder)
            broken = (file.broken, events.broken, upload.broken)
            assert broken[:2] == (len(FILE_CUTS), len(EVENT_CUTS)) and upload.broken >= 1, f"broken: {broken}"
        said = run(node, "readme.js", cwd=folder)
        assert re.search(r"^videos/\S+ \d+ \d+$", said, re.MULTILINE) and (folder / "circle.mp4").is_file(), said
        print(f"{len(list(folder.glob('*.mp4')))} files, {sum(broken)} connections broken, {check_types(folder)}")


if __name__ == "__main__":
    sys.exit(main())
