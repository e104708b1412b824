#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of a real reeld, as a collector gets them, are requests of OTLP/HTTP to opentelemetry-proto, fetched from PyPI: every field is known
there, and what OpenTelemetry says of ids, times and kinds holds."""

import base64
import gzip
import http.server
import json
import queue
import sys
import threading

from fetch import fetched
from server import find_tool, run, running_server, wait_until_serving

SCHEMA = "opentelemetry-proto==1.45.2"
IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
SECONDS = 30


class Collector(http.server.BaseHTTPRequestHandler):
    """Puts what is sent into `bodies`."""

    bodies = queue.Queue()

    def do_POST(self):  # noqa: N802, as http.server calls it
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        self.bodies.put((self.path, self.headers["Content-Type"], body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def with_ids_as_protobuf_has_them(value):
    """OTLP's JSON has ids as hex, protobuf's has all bytes as base64."""
    if isinstance(value, list):
        return [with_ids_as_protobuf_has_them(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: base64.b64encode(bytes.fromhex(one)).decode() if key in IDS else with_ids_as_protobuf_has_them(one)
            for key, one in value.items()}


def check(request, spans):
    for resource in request.resource_spans:
        names = {attribute.key for attribute in resource.resource.attributes}
        assert "service.name" in names, names
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert len(span.trace_id) == IDS["traceId"] and len(span.span_id) == IDS["spanId"], span
                assert any(span.trace_id) and any(span.span_id), span
                assert span.parent_span_id == b"" or len(span.parent_span_id) == IDS["parentSpanId"], span
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span
                assert span.kind != 0, span
                for event in span.events:
                    assert span.start_time_unix_nano <= event.time_unix_nano <= span.end_time_unix_nano, event
                spans[span.span_id] = span


def main():
    grpcurl = find_tool("grpcurl")
    with fetched(SCHEMA):
        from google.protobuf import json_format
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
        collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        spans = {}
        endpoint = f"http://127.0.0.1:{collector.server_address[1]}"
        with running_server(config=f'telemetry {{ otlp_endpoint: "{endpoint}" }}') as server:
            wait_until_serving(server)
            run(grpcurl, "-plaintext", "-d", json.dumps({"spec": {"prompt": "a red circle", "num_inference_steps": 8}}), server.grpc,
                "reel.v1.VideoService/GenerateVideo")
            path, content_type, body = Collector.bodies.get(timeout=SECONDS)
        collector.shutdown()
        assert path == "/v1/traces" and content_type.split(";")[0] == "application/json", (path, content_type)
        message = trace_service_pb2.ExportTraceServiceRequest()
        json_format.ParseDict(with_ids_as_protobuf_has_them(json.loads(body)), message, ignore_unknown_fields=False)
        check(message, spans)
        roots = [span for span in spans.values() if span.parent_span_id not in spans]
        assert len(roots) == 1 and len(spans) >= 4, [span.name for span in spans.values()]
        try:  # self-test: a field that nobody knows is refused
            json_format.ParseDict({"resourceSpan": []}, trace_service_pb2.ExportTraceServiceRequest())
            raise SystemExit("an unknown field is accepted")
        except json_format.ParseError:
            pass
    print(f"{len(spans)} spans of one video: {', '.join(sorted(span.name for span in spans.values()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
