#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adapters of the model on the page: added, moved and removed by keyboard alone, at most eight, refused at their slider, in the commands that the page shows and in the video that is made,
from a video that says how it was made, at three widths. REEL_PAGE_SHOTS=FOLDER keeps pictures."""

import json
import pathlib
import struct
import sys
import tempfile

from browser import opened_page
from page import fill
from page_row import look_at_widths, press, tab_to
from server import ROOT, running_server, wait_until_serving

WIDTH = 192  # of the demo model
NAMES = [f"style-{number}" for number in range(9)]
DROP = """(data) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([data], 'made.mp4', { type: 'video/mp4' }));
  document.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true, bubbles: true }));
}"""


def adapter(**metadata):
    """A file of rank 1 for one layer of a demo model."""
    layer = "transformer_blocks.0.attn1.to_q"
    values = struct.pack(f"<{WIDTH}f", *(0.05 * (i % 7 - 3) for i in range(WIDTH)))
    header = json.dumps({"__metadata__": metadata} | {f"{layer}.lora_A.weight": {"dtype": "F32", "shape": [1, WIDTH], "data_offsets": [0, len(values)]},
                         f"{layer}.lora_B.weight": {"dtype": "F32", "shape": [WIDTH, 1], "data_offsets": [len(values), 2 * len(values)]}}).encode()
    return struct.pack("<Q", len(header)) + header + 2 * values


def config(folder):
    pathlib.Path(folder, "style.safetensors").write_bytes(adapter())
    registered = " ".join(f"adapters {{ name: '{name}' file: 'style.safetensors' max_scale: 1.5 }}" for name in NAMES)
    return (f"adapter_root: '{folder}' {registered} "
            f"models {{ name: 'demo' path: '{ROOT}/model/demo/weights' adapter_ranks: 256 }} models {{ name: 'testcard' test_card {{}} }}")


def add(page):
    tab_to(page, "document.activeElement === byId('adapter')")
    press(page, "ArrowDown", 40)
    tab_to(page, "document.activeElement === byId('adapter-add')")
    press(page, "Enter", 13, "\r")


def check_keyboard(page):
    page.evaluate("byId('prompt').focus()")
    add(page)
    page.wait("document.activeElement.id === 'adapter-0'")
    for _ in range(4):
        press(page, "ArrowLeft", 37)
    assert page.evaluate("spec().adapters") == [{"name": "style-0", "scale": 0.8}]
    assert page.evaluate("document.querySelector('#adapters output').textContent") == "0.8"
    add(page)
    assert page.evaluate("spec().adapters.map((one) => one.name)") == NAMES[:2]
    tab_to(page, "document.activeElement.getAttribute('aria-label') === 'Remove style-1'")
    press(page, "Enter", 13, "\r")
    assert page.evaluate("[spec().adapters.length, document.activeElement.id]") == [1, "adapter"]


def check_video(page):
    fill(page, prompt="a red circle", width=128, height=128, frames=9, steps=2, seed=5)
    page.evaluate("make({ ...spec(), encoding: { origin: 'ORIGIN_SPEC' } })")
    page.wait("stages[0]?.result")
    made = page.evaluate("stages[0].result.spec.adapters.map((one) => [one.name, one.scale])")
    assert made == [["style-0", 0.8]], made
    assert "--adapter 'style-0:0.8'" in page.evaluate("asReel(stages[0].sent)")
    assert '"adapters":[{"name":"style-0","scale":0.8}]' in page.evaluate("asCurl(stages[0].sent)")
    whole = "asReel({ prompt: 'x', adapters: [{ name: 'a', scale: -0.5, partScales: { video: 0.5 }, passScales: [1, 0] }] })"
    assert "--adapter 'a:-0.5,video=0.5,pass=1/0'" in page.evaluate(whole)


def check_refusal(page):
    """What the server refuses is said at the slider, and nothing is dropped in silence."""
    page.evaluate("taken = [{ name: 'gone', scale: 0.5 }]; showAdapters(); estimateSoon(); 0")
    page.wait("byId('adapter-0-error').textContent.includes('is no adapter of this model')")
    assert page.evaluate("byId('adapter-0').getAttribute('aria-invalid')") == "true"
    page.evaluate("taken = []; showAdapters(); 0")


def check_origin(page):
    page.evaluate(f"({DROP})(stages[0].player.file())")
    page.wait("!byId('origin').hidden && taken.length === 1 && taken[0].name === 'style-0'")
    assert page.evaluate("spec().adapters[0].scale") == 0.8
    page.evaluate("byId('origin-forget').click(); taken = []; showAdapters(); 0")


def check_eight(page):
    for _ in range(8):
        page.evaluate("byId('adapter').selectedIndex = 1; byId('adapter-add').click(); 0")
    assert page.evaluate("[spec().adapters.length, byId('adapter').disabled]") == [8, True]
    look_at_widths(page, "adapters")
    page.evaluate("taken = []; byId('model').value = 'testcard'; byId('model').dispatchEvent(new Event('change', { bubbles: true }))")
    assert page.evaluate("[byId('adapter-row').hidden, spec().adapters]") == [True, None]


def main():
    with tempfile.TemporaryDirectory(prefix="reel-adapters-") as folder:
        with running_server("--http", "127.0.0.1:0", config=config(folder)) as server, opened_page() as page:
            wait_until_serving(server)
            page.open(f"http://{server.http}/", 1280)
            page.wait("models.length > 1 && models[0].adapters?.length === 9 && !byId('adapter-row').hidden")
            check_keyboard(page)
            check_video(page)
            check_refusal(page)
            check_origin(page)
            check_eight(page)
            assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"
    print("adapters are added, moved and removed by keyboard, and in the video")


if __name__ == "__main__":
    sys.exit(main())
