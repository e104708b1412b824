#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a real reeld serves as openapi.json is OpenAPI 3.1 to openapi-spec-validator, and what it replies is what jsonschema reads there.
Both are fetched by name, into a folder of this run."""

import json
import sys
import urllib.error
import urllib.request

from fetch import fetched
from server import running_server, wait_until_serving

VALIDATOR = "openapi-spec-validator==0.7.2"


def ask(server, method, path, body=None):
    """Status and JSON of a reply; an error is one, too."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{server.http}{path}", data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def validator_of(document, jsonschema, schema):
    return jsonschema.Draft202012Validator({**schema, "components": document["components"]})


def check_replies(server, document, jsonschema):
    """A video's life by both shapes; each reply against the schema of its operation."""
    def reply(method, pattern, status, body=None, video=""):
        got, found = ask(server, method, pattern.replace("{id}", video), body)
        assert got == status, f"{method} {pattern}: {got} {found}"
        responses = document["paths"][pattern][method.lower()]["responses"]
        schema = responses.get(str(got), responses["default"])["content"]["application/json"]["schema"]
        validator_of(document, jsonschema, schema).validate(found)
        seen.append(pattern)
        return found
    seen = []
    size = {"width": 64, "height": 64, "numFrames": 9}
    spec = {"spec": {"prompt": "a red circle", **size}}
    reply("POST", "/reel/v1/videos:estimate", 200, spec)
    native = reply("POST", "/reel/v1/videos", 200, spec)["video"]["name"].removeprefix("videos/")
    facade = reply("POST", "/v1/videos", 200, {"prompt": "a red circle", "size": "64x64", "num_frames": 9})["id"]
    # Deleted through the OpenAI shape, which ends what runs first.
    for path in ("/reel/v1/videos/{id}", "/v1/videos/{id}"):
        for video in (native, facade):
            reply("GET", path, 200, video=video)
    for path in ("/reel/v1/videos", "/reel/v1/server", "/reel/v1/models", "/reel/v1/kernels", "/reel/v1/experiments", "/v1/videos",
                 "/v1/models", "/v1/model_info", "/health"):
        reply("GET", path, 200)
    reply("POST", "/reel/v1/videos", 400, {"sepc": {}})
    reply("POST", "/v1/videos", 400, {"prompt": "x", "size": "1x1"})
    reply("GET", "/v1/videos/{id}", 404, video="none")
    reply("GET", "/reel/v1/videos/{id}", 404, video="none")
    for video in (native, facade):
        reply("DELETE", "/v1/videos/{id}", 200, video=video)
    return len(seen)


def check_the_check(openapi_spec_validator, exceptions, document):
    broken = json.loads(json.dumps(document))
    del broken["paths"]["/reel/v1/videos/{id}"]["get"]["parameters"]
    try:
        openapi_spec_validator.validate(broken)
    except exceptions.OpenAPIValidationError:
        return
    raise AssertionError("a path whose parameter is not described was taken")


def main():
    with fetched(VALIDATOR), running_server("--http", "127.0.0.1:0", config="models { name: 'testcard' test_card {} }") as server:
        import jsonschema
        import openapi_spec_validator
        from openapi_spec_validator.validation import exceptions
        wait_until_serving(server)
        status, document = ask(server, "GET", "/reel/v1/openapi.json")
        assert status == 200, document
        openapi_spec_validator.validate(document)
        check_the_check(openapi_spec_validator, exceptions, document)
        for schema in document["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        replies = check_replies(server, document, jsonschema)
    operations = sum(len(path) for path in document["paths"].values())
    print(f"FIGURE openapi.json: {operations} operations, {len(document['components']['schemas'])} schemas, valid; "
          f"{replies} replies as described")


if __name__ == "__main__":
    sys.exit(main())
