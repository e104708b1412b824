#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A browser's own EventSource, behind connections that break, hears no piece of a video twice and its end once, and ends by itself: it
sends the last id that it saw, and 204 after the last event ends its retries."""

import json
import sys
import urllib.request

from browser import opened_page
from cut_proxy import CutProxy
from server import running_server, wait_until_serving

CUTS = [2500, 2000, 2000]  # bytes of a connection; the first has the document, too
SLOW = "models { name: 'testcard' test_card { step_time { nanos: 100000000 } } }"
LISTEN = """
  window.heard = []; window.opens = 0; window.source = new EventSource('/reel/v1/videos/' + %s + '/events?previews=0');
  source.onopen = () => { opens++; };
  for (const kind of ['accepted', 'progress', 'media', 'restarted', 'finished', 'error'])
    source.addEventListener(kind, (event) => { if (event.data) heard.push({ kind, id: event.lastEventId, data: JSON.parse(event.data) }); });
  0
"""


def create(server):
    body = json.dumps({"spec": {"prompt": "a red circle", "width": 64, "height": 64, "numFrames": 9, "numInferenceSteps": 90}}).encode()
    request = urllib.request.Request(f"http://{server.http}/reel/v1/videos", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())["video"]["name"].removeprefix("videos/")


def main():
    with running_server("--http", "127.0.0.1:0", config=SLOW) as server, CutProxy(server.http, CUTS) as proxy, opened_page() as page:
        wait_until_serving(server)
        page.open(f"http://{proxy.address}/reel/v1/videos", 1280)
        page.evaluate(LISTEN % json.dumps(create(server)))
        page.wait("heard.some((one) => one.kind === 'finished')")
        page.wait("source.readyState === EventSource.CLOSED")
        heard, opens = page.evaluate("heard"), page.evaluate("opens")
        assert proxy.broken == len(CUTS), f"{proxy.broken} connections were cut"
    ends = [one for one in heard if one["kind"] == "finished"]
    media = [one["data"]["media"] for one in heard if one["kind"] == "media"]
    ids = [int(one["id"]) for one in heard if one["id"]]
    assert len(ends) == 1 and ends[0]["data"]["finished"]["state"] == "VIDEO_STATE_SUCCEEDED", ends
    assert ids == sorted(ids), f"numbers fall: {ids}"
    assert len({piece["offset"] for piece in media}) == len(media), f"a piece was told twice: {media}"
    assert opens >= len(CUTS), f"it was opened {opens} times"
    print(f"FIGURE EventSource: {len(heard)} events over {opens} connections, {proxy.broken} of them cut; ended by itself")


if __name__ == "__main__":
    sys.exit(main())
