#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files too large for a request are sent ahead of it by the page: while one types, with words for how far they are, taken away meanwhile, sent again where
the connection broke, within the server's bounds; at three widths, light and dark. REEL_PAGE_SHOTS=FOLDER keeps pictures."""

import os
import sys

from browser import opened_page
from page import fill
from page_pictures import choose_model, drop, photograph, png, tone
from page_row import look_at_widths, press, tab_to
from server import running_server, wait_until_serving

CONFIG = """
models { name: 'testcard' test_card { step_time { nanos: 2000000 } pictures: true } }
models { name: 'singing' test_card { step_time { nanos: 2000000 } pictures: true sound: true } }
data { max_bytes: 1000000000 max_file_bytes: 8000000 }
"""
# A clip of the page's own, with a box behind it that means nothing and has so many bytes.
CLIP = """stages[0].player.file().arrayBuffer().then((data) => {
  const padding = new Uint8Array(%d);
  new DataView(padding.buffer).setUint32(0, padding.length);
  padding.set([102, 114, 101, 101], 4);
  window.%s = new File([data, padding], '%s.mp4', { type: 'video/mp4' });
})"""
DROP_FILE = """((file, place) => {
  const transfer = new DataTransfer();
  transfer.items.add(file);
  (place ? document.querySelector(`[data-place=${place}]`) : document.body)
    .dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true, bubbles: true }));
})"""
# Sizes of the requests that make a video.
SENT = """((ask) => {
  window.sizes = [];
  window.fetch = (path, options) => { if (path === '/reel/v1/videos') sizes.push(options.body?.length); return ask(path, options); };
})(window.fetch)"""
SAID = "byId('pins').children[{0}].querySelector('.upload').textContent"


def grainy():
    """A picture of 1.9 MB, which no compression makes smaller."""
    return png(800, 800, b"".join(b"\0" + os.urandom(2400) for _ in range(800)))


def connection(page, offline=False, bytes_per_second=-1):
    page.call("Network.emulateNetworkConditions", offline=offline, latency=0, downloadThroughput=-1, uploadThroughput=bytes_per_second)


def make(page, condition):
    page.evaluate("clearStages(); byId('make').click()")
    return page.wait(f"stages[0]?.result && {condition} && stages[0].result")


def make_clips(page):
    fill(page, prompt="a red circle", width=256, height=192, frames=17, steps=2, seed=5)
    choose_model(page, "singing")  # so that the clip can be a sound as well
    make(page, "true")
    page.evaluate(CLIP % (8, "small", "small"))
    page.evaluate(CLIP % (2_500_000, "large", "a large clip"))
    choose_model(page, "testcard")
    page.evaluate(SENT)


def check_clip(page):
    """It goes on its way when it is dropped; a request that is sent meanwhile waits for it, and has its name alone."""
    page.evaluate(f"{DROP_FILE}(small)")
    page.wait("pins.length === 1 && !pins[0].ahead")
    expected = make(page, "stages[0].result.spec.conditions?.length === 1")["media"]["sha256"]
    page.evaluate("unpin(pins[0])")
    connection(page, bytes_per_second=1_000_000)
    page.evaluate(f"{DROP_FILE}(large)")
    page.wait("pins.length === 1 && byId('estimate').textContent.startsWith('Estimate: ')")
    said = page.wait(f"{SAID.format(0)}.match(/^sending it ahead, ([1-9]0) %$/)?.[1]")
    page.evaluate("sizes = []; clearStages(); byId('make').click()")
    assert page.evaluate("[byId('make').disabled, stages.length, !!pins[0].sending]") == [True, 0, True], f"sent before its file, at {said} %"
    shown = page.wait("stages[0]?.result")
    connection(page)
    assert shown["media"]["sha256"] == expected, "a file that was sent ahead gives another video"
    assert [(one["contentType"], int(one["sizeBytes"])) for one in shown["spec"]["conditions"]] == [("video/mp4", page.evaluate("large.size"))], shown
    assert page.evaluate("sizes[0]") < 1000 and page.evaluate(SAID.format(0)) == ""
    assert "--condition 'a large clip.mp4@0'" in page.evaluate("asReel(stages[0].sent)")
    assert '"conditions":[{"file":"files/' in page.evaluate("asCurl(stages[0].sent)")
    page.evaluate("stages[0].find('.another').click()")
    page.wait("stages[0]?.result && stages[0].result.spec.seed !== '5'")


def check_taking_away(page, uploads):
    """By keyboard, while it is on its way: nothing of it stays, and the request is made without it."""
    connection(page, bytes_per_second=100_000)
    drop(page, "grain.png", grainy())
    page.wait(f"pins.length === 2 && {SAID.format(1)} !== ''")
    tab_to(page, "document.activeElement.getAttribute('aria-label') === 'Remove grain.png'")
    press(page, "Enter", 13, "\r")
    page.wait("pins.length === 1")
    connection(page)
    make(page, "stages[0].result.spec.conditions?.length === 1")
    assert not os.listdir(uploads), "a file that was taken away is still on its way"


def check_broken_connection(page):
    """What could not be sent says so by name, and goes with the request, of which nothing was lost."""
    page.evaluate("[...pins].forEach(unpin); clearStages(); 0")
    connection(page, offline=True)
    drop(page, "grain.png", grainy())
    page.wait(f"pins.length === 1 && {SAID.format(0)}.startsWith('grain.png: the connection broke')")
    page.evaluate("estimate()")
    page.evaluate("byId('make').click()")
    page.wait("!byId('make').disabled && !pins[0].sending")
    assert page.evaluate(f"[stages.length, {SAID.format(0)}.startsWith('grain.png: ')]") == [0, True]
    look_at_widths(page, "file")
    connection(page)
    made = make(page, "stages[0].result.spec.conditions?.length === 1")
    assert made["spec"]["conditions"][0]["contentType"] == "image/png" and page.evaluate(SAID.format(0)) == ""
    page.evaluate("pins[0].sent.expireTime = '2020-01-01T00:00:00Z'; 0")  # a day later
    make(page, "true")
    assert page.evaluate("new Date(pins[0].sent.expireTime) > Date.now()"), "a file that expired was not sent again"
    page.evaluate("pins[0].sent.name = `files/${'0'.repeat(64)}`; byId('make').click()")
    page.wait(f"{SAID.format(0)}.startsWith('grain.png: the server no longer has it') && !document.querySelector('.stage') && byId('refusal').textContent === ''")
    make(page, "true")


def check_sound(page):
    """An MP4 that is chosen as the sound is no clip."""
    page.evaluate("[...pins].forEach(unpin); clearStages(); 0")
    choose_model(page, "singing")
    page.evaluate(f"{DROP_FILE}(large, 'sound')")
    drop(page, "long.wav", tone(100), "first")
    page.wait("pins.length === 1 && pins[0].name === 'long.wav'")  # one sound alone: the last
    made = make(page, "stages[0].result.spec.conditions?.length === 1")
    assert made["spec"]["conditions"][0]["contentType"] == "audio/wav", made["spec"]
    page.evaluate(f"{DROP_FILE}(large, 'sound')")
    page.wait("pins.length === 1 && pins[0].name === 'a large clip.mp4'")
    made = make(page, "stages[0].result.spec.conditions?.length === 1")
    assert made["spec"]["conditions"][0]["contentType"] == "audio/mp4", made["spec"]
    assert "--sound 'a large clip.mp4'" in page.evaluate("asReel(stages[0].sent)")


def check_bounds(page):
    """Those of the server, told before anything is sent; small files go the long way, too, where they are too many for a request."""
    page.evaluate("[...pins].forEach(unpin); 0")
    choose_model(page, "testcard")
    drop(page, "huge.png", photograph() + bytes(9_000_000))
    said = page.wait("byId('line-error').textContent")
    assert said.startswith("huge.png: has 8.6 MB; all files together have at most 7.6 MB"), said
    for number in range(4):
        drop(page, f"{number}.png", photograph() + bytes(1_000_000), "middle")
        page.wait(f"pins.length === {number + 1}")
    assert page.evaluate("pins.map((one) => one.ahead)") == [False, False, False, True]
    page.evaluate("byId('make').click()")
    page.wait("stages[0]?.id")
    assert page.evaluate("sizes.at(-1)") < 4_200_000


def check_refused_body(page):
    """A browser sends all of a body before it reads why it was refused: the server reads on, at the pace of the line."""
    connection(page, bytes_per_second=4_000_000)
    page.evaluate("window.refusals = []; upload({ file: new Blob([new Uint8Array(16000000)]), size: 16000000 }).catch((error) => refusals.push(error.message)); "
                  "ask('/reel/v1/videos', { method: 'POST', json: { spec: { prompt: 'x'.repeat(12000000) } } }).catch((error) => refusals.push(error.message)); 0")
    said = sorted(page.wait("refusals.length === 2 && refusals"))
    assert said[0].startswith("The body is larger than this route takes") and said[1].startswith("The file is larger than this server takes: 16000000 bytes"), said
    connection(page)


def main():
    with running_server("--http", "127.0.0.1:0", config=CONFIG) as server, opened_page() as page:
        wait_until_serving(server)
        page.open(f"http://{server.http}/", 1280)
        page.wait("models.length > 1 && !byId('line-row').hidden")
        make_clips(page)
        check_clip(page)
        check_taking_away(page, server.log.parent / "data/uploads")
        check_broken_connection(page)
        check_sound(page)
        check_bounds(page)
        check_refused_body(page)
        assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"


if __name__ == "__main__":
    sys.exit(main())
