# SPDX-License-Identifier: Apache-2.0
"""One video over the HTTP door, with a clock at each thing that a caller hears."""

import dataclasses
import http.client
import json
import time
import urllib.error
import urllib.request


@dataclasses.dataclass
class Heard:
    """Times in seconds from the call. `video`: what the server says of it at the end, stats included."""

    accepted: float = 0.0
    first_media: float = 0.0
    ended: float = 0.0
    error: str = ""
    restarts: int = 0
    video: dict = dataclasses.field(default_factory=dict)
    progress: list = dataclasses.field(default_factory=list)  # (time, what the event said)

    @property
    def ok(self):
        return not self.error

    @property
    def sha256(self):
        return self.video.get("media", {}).get("sha256", "")


def seconds(duration):
    """Of a proto3 JSON duration, as "1.5s"."""
    return float(duration.rstrip("s")) if duration else 0.0


def parts_of(heard):
    return {part["part"].removeprefix("RUN_PART_").lower(): seconds(part.get("time", ""))
            for part in heard.video.get("stats", {}).get("parts", [])}


def generate_at(address, spec):
    return Door(address).generate(spec)


class Door:
    def __init__(self, address):
        self.host, _, port = address.rpartition(":")
        self.port = int(port)

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def call(self, method, path, body=None):
        request = urllib.request.Request(f"http://{self.host}:{self.port}/reel/v1/{path}", method=method,
                                         data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            return json.load(refused)

    def estimate(self, spec):
        return self.call("POST", "videos:estimate", {"spec": spec})

    def create(self, spec):
        return self.call("POST", "videos", {"spec": spec})["video"]["name"]

    def cancel(self, name):
        return self.call("POST", f"{name}:cancel", {})

    def generate(self, spec, hear=None):
        """Renders and listens to the end. `hear`: called with each event's name and its time."""
        return self.ask({"spec": spec}, hear)

    def ask(self, body, hear=None):
        """The same, with all that a request may say beside its spec."""
        return self._listen("POST", "videos:generate", body, hear)

    def watch(self, name, hear=None):
        return self._listen("GET", f"{name}/events", None, hear)

    def _listen(self, method, path, body, hear):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        heard, began = Heard(), time.monotonic()
        connection.request(method, f"/reel/v1/{path}", json.dumps(body) if body is not None else None,
                           {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            heard.error = answer.read().decode()
        else:
            self._read(answer, heard, began, hear)
        heard.ended = time.monotonic() - began
        connection.close()
        return heard

    @staticmethod
    def _read(answer, heard, began, hear):
        event = ""
        for line in answer:
            key, _, value = line.decode().rstrip("\r\n").partition(": ")
            if key == "event":
                event = value
            elif key == "data":
                now, data = time.monotonic() - began, json.loads(value)
                heard.accepted = heard.accepted or now
                if event == "media":
                    heard.first_media = heard.first_media or now
                elif event == "progress":
                    heard.progress.append((now, data["progress"]))
                elif event == "restarted":
                    heard.restarts += 1
                elif event == "finished":
                    heard.video = data["finished"]
                elif event == "failed":
                    heard.error = json.dumps(data["error"])
                if hear:
                    hear(event, now, data)
