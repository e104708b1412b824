#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The clip that an adapter wants, on the page: a field that such adapters alone have, by keyboard and by drop, sent ahead where it is large, refused at the field; the commands
that it copies give the same file; at three widths, light and dark. REEL_PAGE_SHOTS=FOLDER keeps pictures."""

import os
import pathlib
import sys
import tempfile

from browser import opened_page
from page import fill
from page_adapters import adapter, add
from page_files import CLIP, DROP_FILE
from page_pictures import choose_model, drop, photograph
from page_row import look_at_widths, press, tab_to
from server import ROOT, find_binary, run, running_server, wait_until_serving

FIELD = "document.activeElement === byId('reference')"
SENT = "spec(false).conditions"
REFERENCE = "stages[0]?.result?.spec.conditions?.[0].use === 'CONDITION_USE_REFERENCE' && stages[0].result"


def config(folder):
    pathlib.Path(folder, "pose.safetensors").write_bytes(adapter(reference_downscale_factor="1"))
    pathlib.Path(folder, "grain.safetensors").write_bytes(adapter())
    return (f"adapter_root: '{folder}' adapters {{ name: 'pose' file: 'pose.safetensors' }} adapters {{ name: 'grain' file: 'grain.safetensors' }} "
            f"models {{ name: 'films' path: '{ROOT}/model/demo/films/weights' adapter_ranks: 64 }} models {{ name: 'testcard' test_card {{ pictures: true }} }}")


def choose(page):
    """As the browser's dialog leaves the field."""
    page.evaluate("""(() => {
      const transfer = new DataTransfer(), field = byId('reference');
      transfer.items.add(small);
      field.files = transfer.files;
      field.dispatchEvent(new Event('change', { bubbles: true }));
    })()""")


def make_clips(page):
    choose_model(page, "testcard")
    page.evaluate("make({ model: 'testcard', prompt: 'a pose', width: 64, height: 64, numFrames: 9, numInferenceSteps: 1, seed: '3' })")
    page.wait("stages[0]?.result")
    page.evaluate(CLIP % (8, "small", "small"))
    page.evaluate(CLIP % (2_500_000, "large", "large"))
    choose_model(page, "films")


def check_wanted(page):
    """Only an adapter that wants a clip has the field, and is refused there without one."""
    fill(page, prompt="a red circle", width=128, height=128, frames=9, steps=1, seed=5)
    assert page.evaluate("byId('reference-row').hidden")
    page.evaluate("byId('prompt').focus()")
    add(page)
    page.wait("byId('reference-error').textContent.includes('wants a reference clip') && byId('reference').getAttribute('aria-invalid') === 'true'")
    assert page.evaluate("[taken[0].name, byId('reference-row').hidden, byId('adapter-0-error').textContent, byId('refusal').textContent]") == ["pose", False, "", ""]
    page.evaluate("byId('make').click()")
    page.wait(f"{FIELD} && !document.querySelector('.stage')")
    look_at_widths(page, "reference-wanted")


def check_choice(page):
    """Chosen at a field that keys lead to; what is no clip is refused, and keeps nothing."""
    drop(page, "sunset.png", photograph(), "reference")
    page.wait("byId('reference-file-error').textContent === 'sunset.png: is no clip (MP4)' && !pins.length")
    page.evaluate("byId('adapter').focus()")
    tab_to(page, FIELD)
    choose(page)
    page.wait(f"pins.length === 1 && {SENT}[0].use === 'CONDITION_USE_REFERENCE' && byId('reference-file-error').textContent === ''")
    assert page.evaluate(f"[byId('pins').children.length, {SENT}[0].frameIndex, {SENT}[0].strength]") == [0, None, None]
    page.wait("byId('reference').getAttribute('aria-invalid') === null && byId('estimate').textContent.startsWith('Estimate: ')")
    tab_to(page, "document.activeElement === byId('reference-strength')")
    page.call("Input.insertText", text="2")
    page.wait("byId('reference-strength-error').textContent && byId('reference-strength').getAttribute('aria-invalid') === 'true'")
    look_at_widths(page, "reference")
    fill(page, **{"reference-strength": "0.5"})
    page.wait("!document.querySelector('[aria-invalid]')")
    assert page.evaluate(f"{SENT}[0].strength") == 0.5


def check_film(page, server, folder):
    """The copied command makes the same film; a large clip is sent ahead, and gives it, too."""
    page.evaluate("byId('make').click()")
    made = page.wait(REFERENCE)
    assert made["spec"]["conditions"][0]["strength"] == 0.5, made["spec"]
    command = page.evaluate("asReel(stages[0].sent)")
    assert "--adapter 'pose:1' --reference 'small.mp4:0.5'" in command, command
    data = page.evaluate("small.arrayBuffer().then((data) => Array.from(new Uint8Array(data)))")
    (folder / "small.mp4").write_bytes(bytes(data))
    around = os.environ | {"REEL_SERVER": server.grpc, "PATH": f"{find_binary('reel').parent}:{os.environ['PATH']}"}
    run("bash", "-c", f"{command} -q && sha256sum video.mp4 > sum", cwd=folder, env=around)
    assert (folder / "sum").read_text().split()[0] == made["media"]["sha256"], command
    page.evaluate(f"clearStages(); {DROP_FILE}(large, 'reference')")
    page.wait("pins.length === 1 && pins[0].ahead && pins[0].sent")
    fill(page, **{"reference-strength": "0.5"})
    page.evaluate("byId('make').click()")
    again = page.wait(REFERENCE)
    assert again["media"]["sha256"] == made["media"]["sha256"], "a clip that was sent ahead gives another film"
    assert '"use":"CONDITION_USE_REFERENCE"' in page.evaluate("asCurl(stages[0].sent)") and '"file":"files/' in page.evaluate("asCurl(stages[0].sent)")


def check_beside(page):
    """Pictures keep their places, and refusals theirs; without the adapter the clip stays away, and comes back with it."""
    drop(page, "sunset.png", photograph(), "first")
    page.wait("pins.length === 2")
    assert page.evaluate(f"{SENT}.map((one) => one.use || one.frameIndex)") == [0, "CONDITION_USE_REFERENCE"]
    # At once: the next estimate clears it.
    shown = page.evaluate("showError({ message: 'x', violations: [{ field: 'spec.conditions[1].video', description: 'is damaged' }] }, true); "
                          f"[{FIELD}, byId('reference-error').textContent, byId('pin-0-error').textContent]")
    assert shown == [True, "is damaged", ""], shown
    tab_to(page, "document.activeElement.getAttribute('aria-label') === 'Remove pose'")
    press(page, "Enter", 13, "\r")
    page.wait(f"byId('reference-row').hidden && {SENT}.length === 1 && !{SENT}[0].use")
    page.evaluate("byId('prompt').focus()")
    add(page)
    page.wait(f"{SENT}.length === 2 && !byId('reference-row').hidden")
    tab_to(page, "document.activeElement.getAttribute('aria-label') === 'Remove large.mp4'")
    press(page, "Enter", 13, "\r")
    page.wait(f"pins.length === 1 && {FIELD}")


def main():
    with tempfile.TemporaryDirectory(prefix="reel-references-") as name, running_server("--http", "127.0.0.1:0", config=config(name)) as server, opened_page() as page:
        wait_until_serving(server)
        page.open(f"http://{server.http}/", 1280)
        page.wait("models.length > 1 && models[0].adapters?.length === 2 && !byId('adapter-row').hidden")
        make_clips(page)
        check_wanted(page)
        check_choice(page)
        check_film(page, server, pathlib.Path(name))
        check_beside(page)
        assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"


if __name__ == "__main__":
    sys.exit(main())
