#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures, clips and a sound on the page's time line: dropped or chosen, moved and removed by keyboard, refused with a line before anything is sent; from a
dropped photograph or sound to a promoted film in at most six clicks; estimates without their bytes; at three widths, light and dark. REEL_PAGE_SHOTS=FOLDER keeps pictures."""

import base64
import io
import math
import struct
import sys
import wave
import zlib

from browser import opened_page
from page import fill, shoot
from page_row import look_at_widths, press, tab_to
from server import running_server, wait_until_serving

CONFIG = """
models { name: 'testcard' test_card { step_time { nanos: 2000000 } decode_time_per_frame { nanos: 2000000 } pictures: true } }
models { name: 'plain' test_card { step_time { nanos: 2000000 } } }
models { name: 'singing' test_card { step_time { nanos: 2000000 } decode_time_per_frame { nanos: 2000000 } pictures: true sound: true } }
models { name: 'humming' test_card { step_time { nanos: 2000000 } sound: true } }
data { max_bytes: 1000000000 max_file_bytes: 4000000 }
"""
DROP = """(name, text, place) => {
  const file = new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name), transfer = new DataTransfer();
  transfer.items.add(file);
  (place ? document.querySelector(`[data-place=${place}]`) : document.body)
    .dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true, bubbles: true }));
}"""
PLACES = "pins.map((one) => [one.name, frameOf(one)])"
SAID = "byId('pins').children[{0}].querySelector('output').textContent"
SENT = """((ask) => {
  window.sizes = [];
  window.fetch = (path, options) => { if (String(path).endsWith(':estimate')) sizes.push(options.body.length); return ask(path, options); };
})(window.fetch)"""
CLICKS = "window.clicks === undefined && addEventListener('click', (event) => { if (event.isTrusted) ++clicks; }, true); window.clicks = 0"


def png(width, height, rows):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def photograph(width=96, height=64):
    """A sunset, more or less."""
    return png(width, height, b"".join(b"\0" + b"".join(bytes((255 - y, 90 + x, 40 + 2 * y)) for x in range(width)) for y in range(height)))


def tone(seconds=2, rate=8000):
    """A WAV of 440 Hz."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes(b"".join(struct.pack("<h", int(12000 * math.sin(2 * math.pi * 440 * at / rate))) for at in range(seconds * rate)))
    return file.getvalue()


def drop(page, name, content, place=""):
    page.evaluate(f"({DROP})({name!r}, {base64.b64encode(content).decode()!r}, {place!r})")


def click(page, element):
    page.evaluate(f"({element}).scrollIntoView({{ block: 'center' }})")
    x, y = page.evaluate(f"(({{ left, top, width, height }}) => [left + width / 2, top + height / 2])(({element}).getBoundingClientRect())")
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=int(kind == "mousePressed"), clickCount=1)


def choose_model(page, name):
    page.evaluate(f"byId('model').value = {name!r}; byId('model').dispatchEvent(new Event('change', {{ bubbles: true }}))")


def check_walk(page, name, content, kind):
    """A file is dropped, a draft of it made, and that made large. A choice from a list is two clicks."""
    page.evaluate(CLICKS)
    drop(page, name, content)
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
    assert film == {"width": 256, "pictures": [kind]}, film
    assert page.evaluate("[stages[0].result.spec.keepState, stages[0].find('.go-on').hidden, asReel(stages[0].sent)]") == [
        True, False, f"reel promote '{draft}' -o video.mp4 --keep-state"], "one can go on from the film, too"
    clicks = lists + page.evaluate("clicks")
    assert clicks <= 6, f"{clicks} clicks"
    shoot(page, f"promoted-{name}")
    page.evaluate("byId('prompt').value = ''; byId('draft').checked = false; byId('preset').value = ''; byId('preset').dispatchEvent(new Event('change'))")
    return clicks


def check_line(page):
    """First, last and between, by drop; moved and removed by keyboard; the last one stays the last of a longer video."""
    fill(page, prompt="a red circle", width=256, height=192, frames=49, steps=2)
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
    for name, content, why in (("huge.png", photograph() + bytes(5_000_000), "has 4.8 MB; all files together have at most 3.8 MB"),
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


def check_sound(page):
    """A sound is heard in the video and counts for the estimate, which is asked for without the bytes."""
    page.evaluate("[...pins].forEach(unpin); 0")
    choose_model(page, "singing")
    fill(page, frames=49)
    page.evaluate(SENT)
    drop(page, "tone.wav", tone())
    drop(page, "sunset.png", photograph())
    page.wait("pins.length === 2 && pins[0].kind === 'image'")  # the sound stays behind the pictures
    assert page.evaluate(SAID.format(1)) == "sound, 2.00 s"
    page.wait("sizes.length > 0 && byId('estimate').textContent.startsWith('Estimate: ')")
    assert page.evaluate("Math.max(...sizes)") < 1000, "an estimate took the files along"
    page.evaluate("byId('make').click()")
    page.wait("stages[0]?.result?.spec.conditions?.length === 2")
    made = page.evaluate("({ kinds: stages[0].result.spec.conditions.map((one) => one.contentType), speaker: !stages[0].find('.speaker').hidden })")
    assert made == {"kinds": ["image/png", "audio/wav"], "speaker": True}, made
    page.wait("stages[0].video.currentTime > 0.2")
    page.evaluate("stages[0].find('.speaker').click()")
    page.wait("!stages[0].video.muted && stages[0].video.webkitAudioDecodedByteCount > 0")
    assert "--condition 'sunset.png@0' --sound 'tone.wav'" in page.evaluate("asReel(stages[0].sent)")
    assert '"audio":"BASE64 OF tone.wav"' in page.evaluate("asCurl(stages[0].sent)")
    page.evaluate("stages[0].find('.another').click()")
    page.wait("stages[0]?.result?.spec.conditions?.length === 2 && stages[0].result.name !== undefined")
    drop(page, "other.wav", tone(1), "sound")  # it takes the place of the one there
    page.wait("pins.length === 2 && pins[1].name === 'other.wav'")
    for name, content, place, why in (("broken.wav", tone()[:20], "", "cannot be read as a sound"), ("notes.txt", b"a text, no sound", "sound", "is no sound"),
                                      ("sunset.png", photograph(), "sound", "is no sound"), ("huge.wav", tone(300), "sound", "FLAC, MP3 or AAC")):
        drop(page, name, content, place)
        said = page.wait(f"byId('line-error').textContent.startsWith({name + ': '!r}) && byId('line-error').textContent")
        assert why in said, said
    page.evaluate("showError({ message: 'x', violations: [{ field: 'spec.conditions[1].audio', description: 'is too short' }] }, true)")
    assert page.evaluate("[document.activeElement.id, byId('own-sound-error').textContent]") == ["own-sound", "is too short"]
    page.evaluate("clearErrors()")
    choose_model(page, "humming")  # which takes no pictures
    page.wait("spec().conditions.length === 1 && document.querySelector('[data-place=first]').hidden && !document.querySelector('[data-place=sound]').hidden")
    # The sound is the first condition of the request, though the second file of the page.
    shown = page.evaluate("showError({ message: 'x', violations: [{ field: 'spec.conditions[0].audio', description: 'is too short' }] }, true); "
                          "[document.activeElement.id, byId('own-sound-error').textContent]")
    assert shown == ["own-sound", "is too short"], shown
    page.evaluate("clearErrors()")
    choose_model(page, "testcard")
    page.wait("spec().conditions.length === 1 && spec().conditions[0].image && document.querySelector('[data-place=sound]').hidden")
    drop(page, "tone.wav", tone())
    page.wait("byId('line-error').textContent === 'tone.wav: this model takes no sounds'")
    choose_model(page, "singing")
    tab_to(page, "document.activeElement.getAttribute('aria-label') === 'Remove other.wav'")
    press(page, "Enter", 13, "\r")
    assert page.evaluate("[pins.length, document.activeElement.id]") == [1, "first-picture"]
    page.evaluate("[...pins].forEach(unpin); 0")
    fill(page, prompt="", width="", height="", frames="", steps="")
    clicks = check_walk(page, "tone.wav", tone(), "audio/wav")
    choose_model(page, "testcard")
    page.evaluate("[...pins].forEach(unpin); 0")
    return clicks


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
    choose_model(page, "plain")
    page.wait("byId('line-row').hidden && !spec().conditions")
    drop(page, "sunset.png", photograph())
    page.wait("byId('file-error').textContent.startsWith('sunset.png: this model takes no pictures')")
    choose_model(page, "testcard")
    page.wait("!byId('line-row').hidden && spec().conditions.length === 1")


def check_looks(page):
    choose_model(page, "singing")
    drop(page, "a song.wav", tone())
    drop(page, "a photograph with a name that somebody's camera gave it, 2026-11-29.png", photograph())
    drop(page, "broken.png", photograph()[:60])
    page.wait("pins.length === 3 && byId('line-error').textContent")
    look_at_widths(page, "line")


def main():
    with running_server("--http", "127.0.0.1:0", config=CONFIG) as server, opened_page() as page:
        wait_until_serving(server)
        page.open(f"http://{server.http}/", 1280)
        page.wait("models.length > 1 && !byId('line-row').hidden && !byId('draft-row').hidden")
        clicks = check_walk(page, "sunset.png", photograph(), "image/png")
        check_line(page)
        check_unusable(page)
        check_clips(page)
        of_sound = check_sound(page)
        check_choice(page)
        check_looks(page)
        assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"
    print(f"from a dropped photograph to a promoted film in {clicks} clicks, from a dropped sound in {of_sound}")


if __name__ == "__main__":
    sys.exit(main())
