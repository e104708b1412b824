#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in a headless Chromium: it fills itself once the server knows its model, a video plays while it is made, prompts with markup are text, the policy refuses nothing,
and a phone's width is enough. REEL_PAGE_SHOTS=FOLDER keeps pictures."""

import os
import pathlib
import sys

from browser import opened_page
from server import running_server, wait_until_serving

# Frames take their time, as a big model's do.
SLOW = "models { name: 'testcard' test_card { step_time { nanos: 20000000 } decode_time_per_frame { nanos: 30000000 } } }"
# Its limits are known only once it is loaded, which takes longer than the page needs to ask what there is.
LATE = "models { name: 'testcard' test_card { load_time { seconds: 4 } } }"
# It hums, and beeps when a second of the video begins.
HUMMING = "models { name: 'testcard' test_card { step_time { nanos: 1000000 } decode_time_per_frame { nanos: 10000000 } sound: true } }"
# What is heard against what is seen: the beeps' begins by WebAudio, the pictures by when they are shown. A list of milliseconds.
MEASURE_DRIFT = """
  (async (video) => {
    const context = new AudioContext();
    await context.resume();
    const analyser = context.createAnalyser();
    analyser.fftSize = 2048;
    context.createMediaElementSource(video).connect(analyser).connect(context.destination);
    const shown = [], drifts = [];
    video.requestVideoFrameCallback(function each(now, frame) {
      shown.push([frame.expectedDisplayTime, frame.mediaTime]);
      video.requestVideoFrameCallback(each);
    });
    const samples = new Float32Array(analyser.fftSize);
    let loud = true;
    video.currentTime = 0;
    await video.play();
    while (video.currentTime < video.duration - 0.2) {
      await new Promise((done) => setTimeout(done, 5));
      analyser.getFloatTimeDomainData(samples);
      const at = performance.now();
      const first = samples.findIndex((x) => Math.abs(x) > 0.35);
      if (first < 0) { loud = false; continue; }
      if (loud) continue;
      loud = true;
      const heard = at - (samples.length - first) / context.sampleRate * 1000 - context.baseLatency * 1000;
      const frame = shown.filter(([time]) => time <= heard).pop();
      if (!frame || video.currentTime < 0.5) continue;
      const media = frame[1] + (heard - frame[0]) / 1000;
      drifts.push(1000 * (Math.round(media) - media));
    }
    return { drifts, frames: shown.length };
  })(stages[0].video)
"""
MARKUP = "<img src=x onerror=\"window.hacked=1\"><b>bold</b> & a red circle"
NOTE_START = """
  window.began = null;
  document.addEventListener('canplay', () => { if (!began) began = { bytes: stages[0].player.size, done: !!stages[0].result }; }, true);
"""


def shoot(page, name):
    folder = os.environ.get("REEL_PAGE_SHOTS")
    if folder:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        page.shoot(pathlib.Path(folder, f"{name}.png"))


def fill(page, **fields):
    for name, value in fields.items():
        page.evaluate(f"byId({name!r}).value = {value!r}; byId({name!r}).dispatchEvent(new Event('input', {{bubbles: true}}))")


def check_form(page):
    page.wait("models.length > 0")
    fill(page, prompt="a red circle", width=257)
    page.wait("byId('width').getAttribute('aria-invalid') === 'true'")
    assert "257" in page.evaluate("byId('width-error').textContent")
    shoot(page, "violation")
    page.evaluate("byId('make').click()")
    page.wait("document.activeElement === byId('width') && !document.querySelector('.stage')")
    fill(page, width=256)
    page.wait("byId('estimate').textContent.startsWith('Estimate: ') && !document.querySelector('[aria-invalid]')")


def check_playing(page):
    page.evaluate(NOTE_START)
    fill(page, prompt=MARKUP, width=768, height=512, frames=121, steps=10)
    page.evaluate("byId('make').click()")
    page.wait("document.querySelector('.stage img').naturalWidth > 0 || began")
    shoot(page, "preview")
    page.wait("stages[0].video.currentTime > 0.3")
    seen = page.evaluate("({ at: stages[0].video.currentTime, done: !!stages[0].result, size: stages[0].player.size })")
    assert not seen["done"], f"it was finished before it played: {seen}"
    shoot(page, "playing")
    page.wait("stages[0].result")
    figures = page.evaluate("({ began, size: stages[0].player.size, told: Number(stages[0].result.media.sizeBytes),"
                            " dropped: stages[0].video.getVideoPlaybackQuality().droppedVideoFrames })")
    assert figures["size"] == figures["told"], f"{figures}"
    assert not figures["began"]["done"] and figures["began"]["bytes"] <= figures["size"] / 4, f"{figures}"
    page.wait("stages[0].video.buffered.length === 1 && Math.abs(stages[0].video.duration - 121 / 24) < 0.1")
    shoot(page, "finished")
    return figures


def check_markup(page):
    assert page.evaluate("document.querySelector('.stage h2').textContent") == MARKUP
    page.wait("byId('recent').children.length > 0")
    assert page.evaluate("document.querySelectorAll('b, main img[src=x]').length") == 0
    assert page.evaluate("window.hacked === undefined")
    page.evaluate("byId('recent').scrollIntoView()")
    page.wait("document.querySelector('#recent video')?.videoWidth > 0")  # its poster, once the list tells of its end


def check_cancel(page):
    fill(page, prompt="a blue star", steps=90)
    page.evaluate("byId('make').click()")
    page.wait("stages[0] && stages[0].id")
    page.evaluate("document.querySelector('.cancel').click()")
    page.wait("document.querySelector('.stage .error').textContent !== ''")
    assert page.evaluate("byId('make').disabled") is False


def check_pair(page):
    fill(page, prompt="a red circle", width=256, height=256, frames=9, steps=4)
    page.evaluate("byId('compare').open = true; byId('pair').click()")
    page.wait("byId('pair-table').textContent !== ''")
    seeds = page.evaluate("stages.map((stage) => stage.result.spec.seed)")
    assert len(seeds) == 2 and seeds[0] == seeds[1], seeds
    shoot(page, "pair")


def check_early():
    """A page that is opened before a worker is ready fills itself, and keeps what was chosen and typed meanwhile."""
    with running_server("--http", "127.0.0.1:0", config=LATE) as server, opened_page() as page:
        page.open(f"http://{server.http}/", 1280)
        page.wait("models.length > 0 && byId('estimate').textContent === 'The server is loading its model.'")
        assert page.evaluate("[byId('preset').options.length, byId('width').placeholder]") == [1, ""], "it was told all at once"
        page.evaluate("byId('kernels-b').value = 'auto'; byId('prompt').focus()")
        fill(page, prompt="a red circle", width=256)
        page.wait("byId('width').placeholder !== '' && byId('preset').options.length > 1 && !byId('preset-row').hidden")
        assert page.evaluate("[byId('kernels-b').value, byId('width').value, document.activeElement.id]") == ["auto", "256", "prompt"]
        page.wait("byId('estimate').textContent.startsWith('Estimate: ')")
        assert page.errors == [], page.errors


def check_sound():
    """A video with sound plays muted, and a button turns the sound on."""
    with running_server("--http", "127.0.0.1:0", config=HUMMING) as server, opened_page() as page:
        page.open(f"http://{server.http}/", 1280)
        wait_until_serving(server)
        page.wait("models.length > 0")
        fill(page, prompt="a red circle", width=256, height=256, frames=145, steps=4)
        page.evaluate("byId('make').click()")
        page.wait("stages[0]?.result && stages[0].video.currentTime > 0.2")
        assert page.evaluate("stages[0].player.type").endswith(', mp4a.40.2"')
        assert page.evaluate("[stages[0].video.muted, stages[0].find('.speaker').hidden, stages[0].find('.speaker').textContent]") == [True, False, "Sound on"]
        shoot(page, "sound")
        page.evaluate("stages[0].find('.speaker').click()")
        assert page.evaluate("[stages[0].video.muted, stages[0].find('.speaker').textContent]") == [False, "Sound off"]
        page.wait("stages[0].video.webkitAudioDecodedByteCount > 0 && stages[0].video.buffered.length === 1")
        if os.environ.get("REEL_PAGE_DRIFT"):
            print("sound behind pictures, ms:", page.evaluate(MEASURE_DRIFT))
        assert page.errors == [], page.errors


def check_draft():
    """A draft is made large by a button, and its commands name it alone."""
    with running_server("--http", "127.0.0.1:0", config=HUMMING) as server, opened_page() as page:
        page.open(f"http://{server.http}/", 1280)
        wait_until_serving(server)
        page.wait("models.length > 0 && !byId('draft-row').hidden")
        fill(page, prompt="a red circle", width=256, height=256, frames=9)
        page.evaluate("byId('draft').checked = true; byId('draft').dispatchEvent(new Event('input', {bubbles: true}))")
        page.wait("byId('draft-error').textContent.includes('two-pass')")  # the usual preset has one pass
        fill(page, preset="two-pass")
        page.wait("byId('draft-error').textContent === ''")
        page.evaluate("byId('make').click()")
        page.wait("stages[0]?.result && !stages[0].find('.promote').hidden")
        small = page.evaluate("({ name: stages[0].result.name, width: stages[0].result.media.width })")
        assert small["width"] == 128, small
        assert page.evaluate("asReel(stages[0].sent)").endswith(" --draft")
        page.evaluate("stages[0].find('.promote').click()")
        page.wait(f"stages[0]?.result?.sourceVideo === {small['name']!r}")
        assert page.evaluate("stages[0].result.media.width") == 256
        assert page.evaluate("[stages[0].find('h2').textContent, stages[0].find('.promote').hidden]") == ["a red circle", True]
        assert page.evaluate("asReel(stages[0].sent)") == f"reel promote '{small['name']}' -o video.mp4 --keep-state"
        assert page.errors == [], page.errors


def check_origin():
    """An MP4 that says how it was made, dropped onto the page, fills the form, and the same video comes of it to the byte."""
    drop = """(name, data) => {
      const file = new File([data], name, { type: 'video/mp4' }), transfer = new DataTransfer();
      transfer.items.add(file);
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true, bubbles: true }));
    }"""
    with running_server("--http", "127.0.0.1:0", config=HUMMING) as server, opened_page() as page:
        page.open(f"http://{server.http}/", 1280)
        wait_until_serving(server)
        page.wait("models.length > 0")
        page.evaluate("make({ prompt: 'a red circle', width: 256, height: 192, numFrames: 9, timesteps: [1000, 600.5, 200],"
                      " seed: '18446744073709551615', sound: false, encoding: { crf: 20, origin: 'ORIGIN_SPEC' } })")
        page.wait("stages[0]?.result")
        first = page.evaluate("stages[0].result.media.sha256")
        page.evaluate(f"({drop})('circle.mp4', stages[0].player.file())")
        page.wait("!byId('origin').hidden && byId('prompt').value === 'a red circle'")
        assert page.evaluate("['width', 'height', 'frames', 'steps', 'seed', 'crf'].map((id) => byId(id).value)") == [
            "256", "192", "9", "", "18446744073709551615", "20"]
        page.evaluate("byId('make').click()")
        page.wait(f"stages[0]?.result?.media.sha256 === {first!r} && stages.length === 1")
        fill(page, seed=8, steps=2)
        page.evaluate("byId('make').click()")
        page.wait(f"stages[0]?.result && stages[0].result.media.sha256 !== {first!r} && stages[0].result.spec.seed === '8'")
        assert page.evaluate("[stages[0].result.spec.timesteps, stages[0].result.spec.numInferenceSteps, stages[0].result.spec.sound]") == [None, 2, False]
        page.evaluate("byId('origin-forget').click()")
        assert page.evaluate("[byId('origin').hidden, spec().sound]") == [True, None]
        for data in ("'no film'", "new Uint8Array(64)", "'\\0\\0\\0\\x08ftyp\\0\\0\\0\\x08moof'"):
            page.evaluate("byId('file-error').textContent = ''")
            page.evaluate(f"({drop})('other.mp4', {data})")
            page.wait("byId('file-error').textContent.startsWith('other.mp4: it does not say')")
        page.evaluate("estimate()")
        assert page.evaluate("byId('file-error').textContent"), "an estimate took a file's refusal away"
        assert page.errors == [], page.errors


def main():
    check_early()
    check_origin()
    check_sound()
    check_draft()
    with running_server("--http", "127.0.0.1:0", config=SLOW) as server:
        with opened_page() as page:
            page.open(f"http://{server.http}/", 1280)  # perhaps before a worker is ready
            wait_until_serving(server)
            check_form(page)
            figures = check_playing(page)
            check_markup(page)
            check_cancel(page)
            check_pair(page)
            page.open(f"http://{server.http}/", 360)
            page.wait("byId('recent').children.length > 0")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 360, f"the page is {wide} wide"
            small = page.evaluate("[...document.querySelectorAll('button, input, select, textarea')]"
                                  ".map((e) => e.type === 'checkbox' ? e.closest('label') : e)"  # the words tick it, too
                                  ".filter((e) => e.offsetParent && e.getBoundingClientRect().height < 43.5).length")
            assert small == 0, f"{small} controls are too small for a finger"
            shoot(page, "phone")
            assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"
    print(f"plays at {figures['began']['bytes']} of {figures['size']} bytes, {figures['dropped']} frames dropped, "
          "nothing refused by the policy")


if __name__ == "__main__":
    sys.exit(main())
