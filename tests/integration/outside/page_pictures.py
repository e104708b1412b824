#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures and clips on the page's time line: dropped or chosen, moved and removed by keyboard, refused with a line before anything is sent; from a
dropped photograph to a promoted film in at most six clicks; at three widths, light and dark. REEL_PAGE_SHOTS=FOLDER keeps pictures."""

import base64
import struct
import sys
import zlib

from browser import opened_page
from page import fill, shoot
from page_row import SMALL, press, tab_to
from server import running_server, wait_until_serving

CONFIG = """
models { name: 'testcard' test_card { step_time { nanos: 2000000 } decode_time_per_frame { nanos: 2000000 } pictures: true } }
models { name: 'plain' test_card { step_time { nanos: 2000000 } } }
"""
DROP = """(name, text, place) => {
  const file = new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name), transfer = new DataTransfer();
  transfer.items.add(file);
  (place ? document.querySelector(`[data-place=${place}]`) : document.body)
    .dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true, bubbles: true }));
}"""
PLACES = "pins.map((one) => [one.name, frameOf(one)])"
SAID = "byId('pins').children[{0}].querySelector('output').textContent"
CLICKS = "window.clicks = 0; addEventListener('click', (event) => { if (event.isTrusted) ++clicks; }, true)"


def png(width, height, rows):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def photograph(width=96, height=64):
    """A sunset, more or less."""
    return png(width, height, b"".join(b"\0" + b"".join(bytes((255 - y, 90 + x, 40 + 2 * y)) for x in range(width)) for y in range(height)))


def drop(page, name, content, place=""):
    page.evaluate(f"({DROP})({name!r}, {base64.b64encode(content).decode()!r}, {place!r})")


def click(page, element):
    page.evaluate(f"({element}).scrollIntoView({{ block: 'center' }})")
    x, y = page.evaluate(f"(({{ left, top, width, height }}) => [left + width / 2, top + height / 2])(({element}).getBoundingClientRect())")
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=int(kind == "mousePressed"), clickCount=1)


def check_walk(page):
    """A photograph is dropped, a draft of it made, and that made large. A choice from a list is two clicks."""
    page.evaluate(CLICKS)
    drop(page, "sunset.png", photograph())
    page.wait("pins.length === 1 && document.activeElement === byId('prompt')")
    page.call("Input.insertText", text="a red circle")
    fill(page, preset="two-pass")
    lists = 2
    click(page, "byId('draft')")
    click(page, "byId('make')")
    page.wait("stages[0]?.result?.spec.stopAfterPass && !stages[0].find('.promote').hidden")
    draft = page.evaluate("stages[0].result.name")
    click(page, "stages[0].find('.promote')")
    page.wait(f"stages[0]?.result?.sourceVideo === {draft!r}")
    film = page.evaluate("({ width: stages[0].result.media.width, pictures: stages[0].result.spec.conditions.map((one) => one.contentType) })")
    assert film == {"width": 256, "pictures": ["image/png"]}, film
    clicks = lists + page.evaluate("clicks")
    assert clicks <= 6, f"{clicks} clicks"
    shoot(page, "promoted")
    page.evaluate("byId('draft').checked = false; byId('preset').value = ''; byId('preset').dispatchEvent(new Event('change'))")
    return clicks


def check_line(page):
    """First, last and between, by drop; moved and removed by keyboard; the last one stays the last of a longer video."""
    fill(page, width=256, height=192, frames=49, steps=2)
    drop(page, "end.png", photograph())  # quickly behind each other, each where nothing else is
    drop(page, "middle.png", photograph())
    page.wait("pins.length === 3")
    assert page.evaluate(PLACES) == [["sunset.png", 0], ["end.png", 48], ["middle.png", 25]]
    assert page.evaluate("[0, 1, 2].map((n) => byId('pins').children[n].querySelector('output').textContent)") == [
        "first, frame 0", "last, frame 48", "at 1.04 s, frame 25"]
    tab_to(page, "document.activeElement === byId('pin-2')")
    press(page, "ArrowRight", 39)
    assert page.evaluate(SAID.format(2)) == "at 1.38 s, frame 33"
    assert page.evaluate("byId('pin-2').getAttribute('aria-valuetext')") == "at 1.38 s, frame 33"
    fill(page, frames=97)
    page.wait("pins[1] && frameOf(pins[1]) === 96")
    fill(page, frames=49)
    page.evaluate("byId('make').click()")
    page.wait("stages[0]?.result?.spec.conditions?.length === 3")
    assert page.evaluate("stages[0].result.spec.conditions.map((one) => one.frameIndex || 0)") == [0, 48, 33]
    assert "--condition 'end.png@48'" in page.evaluate("asReel(stages[0].sent)")
    assert "BASE64 OF end.png" in page.evaluate("asCurl(stages[0].sent)") and page.evaluate("asCurl(stages[0].sent).length") < 1000
    tab_to(page, "document.activeElement.getAttribute('aria-label') === 'Remove sunset.png'")
    press(page, "Enter", 13, "\r")
    assert page.evaluate("[pins.length, document.activeElement === byId('pin-0')]") == [2, True]


def check_unusable(page):
    """Nothing of these is sent, and what was there stays."""
    videos = page.evaluate("fetch('/reel/v1/videos').then((reply) => reply.json()).then((page) => page.videos.length)")
    for name, content, why in (("huge.png", photograph() + bytes(5_000_000), "has 4.8 MB; all pictures and clips together have at most 3.5 MB"),
                               ("broken.png", photograph()[:60], "is damaged"), ("broken.mp4", b"\0\0\0\x18ftypisom" + bytes(40), "cannot be read as a clip"),
                               ("notes.txt", b"a text, no picture", "is no picture"), ("empty.png", b"", "is empty"),
                               ("vast.png", png(5000, 4000, (b"\0" + bytes(15000)) * 4000), "has 5000x4000 pixels; at most 16 million")):
        drop(page, name, content, "middle")
        said = page.wait(f"byId('line-error').textContent.startsWith({name + ': '!r}) && byId('line-error').textContent")
        assert why in said, said
    for number in (2, 3):
        drop(page, f"{number}.png", photograph(), "middle")
        page.wait(f"pins.length === {number} + 1")
    drop(page, "fifth.png", photograph(), "middle")
    page.wait("byId('line-error').textContent.includes('one more than 4')")
    drop(page, "other-end.png", photograph(), "last")  # it takes the place of the one there
    page.wait("pins.length === 4 && pins.some((one) => one.name === 'other-end.png') && !pins.some((one) => one.name === 'end.png')")
    assert page.evaluate("fetch('/reel/v1/videos').then((reply) => reply.json()).then((page) => page.videos.length)") == videos


def check_clips(page):
    """A clip of any origin is a condition; one that says how it was made fills the form, and is a clip if one wants."""
    page.evaluate("[...pins].forEach(unpin); 0")
    for origin in ("MARK", "SPEC"):
        page.evaluate(f"make({{ prompt: 'a red circle', width: 256, height: 192, numFrames: 17, seed: '5', encoding: {{ origin: 'ORIGIN_{origin}' }} }})")
        page.wait(f"stages[0]?.result?.spec.encoding.origin === 'ORIGIN_{origin}'")
        page.evaluate("stages[0].player.file().arrayBuffer().then((data) => { window.dropped = btoa(Array.from(new Uint8Array(data), (c) => String.fromCharCode(c)).join('')); })")
        page.evaluate(f"({DROP})('{origin.lower()}.mp4', dropped, '')")
        if origin == "SPEC":
            page.wait("!byId('origin').hidden && byId('seed').value === '5' && pins.length === 1")
            assert not page.evaluate("byId('origin-clip').hidden")
            page.evaluate("byId('origin-clip').click()")
            page.wait("pins.length === 2")
            page.evaluate("byId('origin-forget').click()")
        else:
            page.wait("pins.length === 1 && pins[0].kind === 'video' && byId('origin').hidden")
    fill(page, frames=49)
    page.wait("clip.frames === 49")
    assert page.evaluate(PLACES) == [["mark.mp4", 0], ["spec.mp4", 40]], "a clip begins where room for it is left"
    page.evaluate("byId('make').click()")
    page.wait("stages[0]?.result?.spec.conditions?.length === 2 && stages[0].result.spec.conditions[1].contentType === 'video/mp4'")


def check_choice(page):
    """A file that is chosen does the same; a model that takes none says so."""
    page.evaluate("[...pins].forEach(unpin); 0")
    page.evaluate("""((input) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(%r), (c) => c.charCodeAt(0))], 'chosen.png'));
      input.files = transfer.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    })(document.querySelector('[data-place=last] input'))""" % base64.b64encode(photograph()).decode())
    page.wait("pins.length === 1 && pins[0].at === 1")
    page.evaluate("byId('model').value = 'plain'; byId('model').dispatchEvent(new Event('change', { bubbles: true }))")
    page.wait("byId('line-row').hidden && !spec().conditions")
    drop(page, "sunset.png", photograph())
    page.wait("byId('refusal').textContent.startsWith('sunset.png: this model takes no pictures')")
    page.evaluate("byId('model').value = 'testcard'; byId('model').dispatchEvent(new Event('change', { bubbles: true }))")
    page.wait("!byId('line-row').hidden && spec().conditions.length === 1")


def check_looks(page):
    drop(page, "a photograph with a name that somebody's camera gave it, 2026-11-29.png", photograph())
    drop(page, "broken.png", photograph()[:60])
    page.wait("pins.length === 2 && byId('line-error').textContent")
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for width in (360, 768, 1280):
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
            page.wait(f"innerWidth === {width}")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"the page is {wide} wide at {width}"
            assert page.evaluate(SMALL) == 0, f"controls are too small for a finger at {width}"
            shoot(page, f"line-{width}-{scheme}")


def main():
    with running_server("--http", "127.0.0.1:0", config=CONFIG) as server, opened_page() as page:
        wait_until_serving(server)
        page.open(f"http://{server.http}/", 1280)
        page.wait("models.length > 1 && !byId('line-row').hidden && !byId('draft-row').hidden")
        clicks = check_walk(page)
        check_line(page)
        check_unusable(page)
        check_clips(page)
        check_choice(page)
        check_looks(page)
        assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"
    print(f"from a dropped photograph to a promoted film in {clicks} clicks")


if __name__ == "__main__":
    sys.exit(main())
