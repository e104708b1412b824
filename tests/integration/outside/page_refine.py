#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A clip of any origin is made large by the page: by keyboard, with its rate, length and sound, as strongly as one says; refusals where one can change what
they are about; the commands that it copies give the same file; at three widths, light and dark. REEL_PAGE_SHOTS=FOLDER keeps pictures."""

import json
import os
import pathlib
import sys
import tempfile

from browser import opened_page
from page import fill
from page_pictures import choose_model, drop, photograph
from page_row import look_at_widths, press, tab_to
from server import find_binary, find_tool, run, running_server, wait_until_serving

CONFIG = """
models { name: 'testcard' test_card { step_time { nanos: 2000000 } pictures: true sound: true } }
models { name: 'other' test_card { pictures: true } }
"""
USE = "byId('pin-0-use')"
REFINED = "stages[0]?.result?.spec.conditions?.[0].use === 'CONDITION_USE_REFINE' && stages[0].result"


def foreign_clip(folder, name, *options):
    """Two seconds of 30 pictures each, with sound, not in fragments."""
    run(find_tool("ffmpeg"), "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30:duration=2", "-f", "lavfi", "-i", "sine=duration=2",
        "-c:v", "libx264", "-pix_fmt", "yuv420p", *options, "-c:a", "aac", folder / name)
    return (folder / name).read_bytes()


def check_choice(page, clip):
    """Chosen by keyboard; what the form leaves out is filled from the clip."""
    drop(page, "phone.mp4", clip)
    page.wait("pins.length === 1 && byId('pin-0-strength').closest('label').hidden")
    tab_to(page, f"document.activeElement === {USE}")
    press(page, "ArrowDown", 40)
    page.wait(f"spec(false).conditions[0].use === 'CONDITION_USE_REFINE' && document.activeElement === {USE}")
    page.wait("byId('pin-0-strength').placeholder === '0.9'")
    assert page.evaluate("['prompt', 'width', 'height', 'frames'].map((id) => byId(id).value)") == ["a sharp, detailed video", "640", "512", "57"]
    assert page.evaluate("byId('pins').querySelector('output').textContent") == "refined, 30 fps"
    assert page.evaluate("byId('pin-0').hidden && !byId('pin-0-strength').closest('label').hidden")
    look_at_widths(page, "refine")


def check_refusals(page):
    for field, value, place, why in (("pin-0-strength", "2", "pin-0-strength", "0.9"), ("preset", "quick", "preset", "two-pass")):
        fill(page, **{field: value})
        page.wait(f"byId('{place}').getAttribute('aria-invalid') === 'true' && byId('{place}-error').textContent.includes({why!r})")
        page.evaluate("byId('make').click()")
        page.wait(f"document.activeElement === byId('{place}') && !document.querySelector('.stage')")
        fill(page, **{field: ""})
        page.wait("!document.querySelector('[aria-invalid]')")
    drop(page, "sunset.png", photograph())
    page.wait("pins.length === 2 && byId('pin-1-error').textContent.includes('stands beside')")
    page.evaluate("unpin(pins[1])")


def check_commands(page, server, folder, name):
    """What `reel` and curl make of the copied commands is the file on the page."""
    made = page.wait(f"!byId('make').disabled && {REFINED}")
    command = page.evaluate("asReel(stages[0].sent)")
    assert command.startswith(f"reel refine '{name}' 'a sharp, detailed video' -o video.mp4 "), command
    around = os.environ | {"REEL_SERVER": server.grpc, "PATH": f"{find_binary('reel').parent}:{os.environ['PATH']}"}
    run("bash", "-c", f"{command} -q && sha256sum video.mp4 > sum", cwd=folder, env=around)
    assert (folder / "sum").read_text().split()[0] == made["media"]["sha256"], command
    return made


def check_film(page, server, folder):
    page.evaluate("byId('make').click()")
    made = check_commands(page, server, folder, "phone.mp4")
    resolved = made["spec"]
    assert (resolved["preset"], resolved["frameRate"], resolved["denoiseStrength"]) == ("two-pass", 30, 0.9), resolved
    assert [made["media"][side] for side in ("width", "height")] == [640, 512] and "mp4a" in made["media"]["contentType"]
    assert "The clip is longer than the video" in page.evaluate("stages[0].find('.left').textContent")


def check_large_film(page, server, folder, clip):
    """One that is sent ahead, with half as much noise; by curl as well."""
    page.evaluate("unpin(pins[0]); clearStages(); 0")
    drop(page, "large phone.mp4", clip)
    page.wait("pins.length === 1 && pins[0].ahead && !!byId('pin-0-use').offsetParent")
    page.evaluate(f"{USE}.value = 'refine'; {USE}.dispatchEvent(new Event('change'))")
    page.wait("spec(false).conditions[0].use && spec(false).frameRate === 30")
    fill(page, **{"pin-0-strength": "0.5"})
    page.evaluate("byId('make').click()")
    made = check_commands(page, server, folder, "large phone.mp4")
    assert made["spec"]["denoiseStrength"] == 0.5
    name = json.loads(run("bash", "-c", page.evaluate("asCurl(stages[0].sent)")))["video"]["name"].removeprefix("videos/")
    page.evaluate(f"open({{ name: 'videos/{name}', spec: {{}} }})")
    assert page.wait(f"stages[0]?.id === '{name}' && {REFINED}")["media"]["sha256"] == made["media"]["sha256"]
    assert page.evaluate("stages[0].find('.another').hidden"), "the file's bytes are not known any more"


def check_other_use(page):
    """The same clip as frames again; and a model that refines none."""
    tab_to(page, f"document.activeElement === {USE}")
    press(page, "ArrowUp", 38)
    page.wait("spec(false).conditions[0].use === undefined && spec(false).conditions[0].frameIndex === 0 && !spec(false).denoiseStrength && !byId('pin-0').hidden")
    page.evaluate(f"{USE}.value = 'refine'; {USE}.dispatchEvent(new Event('change'))")
    page.wait("spec(false).conditions[0].use")
    page.evaluate("models.find((one) => one.name === 'other').refiningPresets = []; 0")
    choose_model(page, "other")
    page.wait(f"!spec(false).conditions[0].use && !{USE}.offsetParent && !byId('pin-0').hidden")


def check_fragments(page):
    """The rate of a clip in fragments, as the server makes them; what is cut or says too much ends in no error, and soon."""
    page.evaluate("[...pins].forEach(unpin); clearStages(); for (const id of ['width', 'height', 'frames']) byId(id).value = ''; 0")
    choose_model(page, "testcard")
    for rate in (30, 12.5, 29.97):
        page.evaluate(f"make({{ prompt: 'a red circle', width: 256, height: 192, numFrames: 33, frameRate: {rate}, numInferenceSteps: 2 }})")
        page.wait(f"stages[0]?.result?.spec.frameRate === {rate}")
        page.evaluate("pin(new File([stages[0].player.file()], 'made.mp4')).then(() => chooseUse(pins[0], true))")
        page.wait(f"{USE} && spec(false).frameRate && Math.abs(spec(false).frameRate - {rate}) < 1e-3 && byId('frames').value === '33'")
        assert page.evaluate("byId('pins').querySelector('output').textContent") == f"refined, {rate} fps"
        page.evaluate("unpin(pins[0]); byId('frames').value = ''; stages[0].player.file().arrayBuffer().then((data) => { window.made = new Uint8Array(data); })")
    rates = page.evaluate("Array.from({ length: 400 }, (_, at) => rateOf(made.subarray(0, made.length * at / 400)) || 0)")
    assert all(rate == 0 or abs(rate - 29.97) < 1e-3 for rate in rates) and rates[0] == 0 < rates[-1], rates
    page.evaluate("""(() => {
      const text = String.fromCharCode(...made.subarray(0, 8192)), run = text.indexOf('trun');
      made.set([255, 255, 255, 255], run + 8);  // frames that are not there
    })()""")
    assert page.evaluate("((began) => (rateOf(made), performance.now() - began))(performance.now())") < 1000


def main():
    find_tool("ffmpeg")
    with tempfile.TemporaryDirectory(prefix="reel-refine-") as name, running_server("--http", "127.0.0.1:0", config=CONFIG) as server, opened_page() as page:
        folder = pathlib.Path(name)
        clip, large = foreign_clip(folder, "phone.mp4"), foreign_clip(folder, "large phone.mp4", "-vf", "noise=alls=60:allf=t", "-qp", "8")
        wait_until_serving(server)
        page.open(f"http://{server.http}/", 1280)
        page.wait("models.length > 1 && !byId('line-row').hidden && models[0].refiningPresets[0] === 'two-pass'")
        check_choice(page, clip)
        check_refusals(page)
        check_film(page, server, folder)
        check_large_film(page, server, folder, large)
        check_other_use(page)
        check_fragments(page)
        assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"


if __name__ == "__main__":
    sys.exit(main())
