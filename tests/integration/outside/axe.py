#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""axe-core finds no rule of accessibility broken on the page: empty, with a violation, with a finished video, with all that folds open, with pictures, with an adapter, with what
goes on from it, with a row of four, and at a phone's width. It is fetched from the npm registry by name, into a folder of this run."""

import json
import pathlib
import sys
import tempfile

from browser import opened_page
from npm_package import fetch
from page_pictures import drop, photograph, tone
from server import running_server, wait_until_serving

VERSION = "4.14.1"
# Of the page as it stands; links to what and how follow in the failure.
RUN = "axe.run(document, { resultTypes: ['violations'] }).then((found) => JSON.stringify(found.violations.map((v) => " \
      "({ rule: v.id, help: v.help, at: v.nodes.map((n) => n.target.join(' ')) }))))"
PASSED = "axe.run(document).then((found) => found.passes.length)"
LEAST_RULES = 15  # a run that looks at nothing breaks no rule either


def text_of_axe():
    with tempfile.TemporaryDirectory(prefix="reel-axe-") as folder:
        fetch(folder, f"axe-core@{VERSION}")
        return pathlib.Path(folder, "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def look(page, axe, what):
    page.evaluate(axe + "; 0")
    broken = json.loads(page.evaluate(RUN))
    assert not broken, f"{what}: {json.dumps(broken, indent=1)}"
    passed = page.evaluate(PASSED)
    assert passed >= LEAST_RULES, f"{what}: only {passed} rules found something to look at"
    print(f"{what}: 0 rules broken, {passed} held")


def check_the_check(page, axe):
    page.evaluate("document.body.append(document.createElement('button')); 0")
    page.evaluate(axe + "; 0")
    assert "button-name" in page.evaluate(RUN), "axe-core does not notice a button without a name"


def main():
    axe = text_of_axe()
    with running_server("--http", "127.0.0.1:0", config="models { name: 'testcard' test_card { pictures: true sound: true } }") as server, opened_page() as page:
        wait_until_serving(server)
        for width in (1280, 360):
            page.open(f"http://{server.http}/", width)
            page.wait("models.length > 0")
            look(page, axe, f"{width} px, empty")
            page.evaluate("byId('prompt').value = 'a red circle'; byId('width').value = 257; "
                          "byId('width').dispatchEvent(new Event('input', { bubbles: true }))")
            page.wait("byId('width').getAttribute('aria-invalid') === 'true'")
            look(page, axe, f"{width} px, a violation")
            page.evaluate("byId('width').value = 256; byId('width').dispatchEvent(new Event('input', { bubbles: true }))")
            page.wait("!document.querySelector('[aria-invalid]')")
            page.evaluate("byId('make').click()")
            page.wait("stages[0] && stages[0].result")
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            page.wait("byId('recent').children.length > 0")
            look(page, axe, f"{width} px, a video, all open")
            # The refusal comes last: the next file takes it away.
            for name, content in (("first.png", photograph()), ("last.png", photograph()), ("song.wav", tone()), ("last.mp4", b"no clip")):
                drop(page, name, content)
            page.wait("pins.length === 3 && byId('line-error').textContent")
            page.evaluate("showError({ message: 'x', violations: [{ field: 'spec.conditions[2].audio', description: 'is too short' }] }, false)")
            look(page, axe, f"{width} px, two pictures, a sound and one refused")
            page.evaluate("[...pins].forEach(unpin); 0")
            page.evaluate("pin(new File([stages[0].player.file()], 'clip.mp4'))")
            page.wait("pins.length === 1")
            page.evaluate("chooseUse(pins[0], true)")
            page.wait("byId('pin-0-strength').placeholder !== ''")
            page.evaluate("pins[0].problem = 'the connection broke'; showPlace(pins[0])")
            look(page, axe, f"{width} px, a clip to refine, which could not be sent")
            page.evaluate("unpin(pins[0]); byId('frames').value = ''; 0")
            # The test card takes none.
            page.evaluate("models[0].adapters = [{ name: 'style', maxScale: 2 }]; taken = [{ name: 'style', scale: 0.5 }]; showAdapters(); estimateSoon(); 0")
            page.wait("byId('adapter-0-error').textContent !== ''")
            look(page, axe, f"{width} px, an adapter, which is refused")
            page.evaluate("models[0].adapters[0].wantsReference = true; showAdapters(); pin(new File([stages[0].player.file()], 'pose.mp4'), 'reference')")
            page.wait("byId('references').children.length === 1")
            page.evaluate("showError({ message: 'x', violations: [{ field: 'spec.conditions[0].strength', description: 'is above 1' }, "
                          "{ field: 'spec.conditions[0].video', description: 'is damaged' }] }, false)")
            look(page, axe, f"{width} px, the clip that an adapter wants, which is refused")
            page.evaluate("unpin(pins[0]); taken = []; delete models[0].adapters; showAdapters(); 0")
            page.evaluate("byId('keep').checked = true; byId('make').click()")
            page.wait("stages[0]?.result && !stages[0].find('.go-on').hidden")
            for form in ("go-on", "again"):
                page.evaluate(f"stages[0].find('.{form}').click()")
                page.wait("stages[0].form.find('.estimate').textContent !== ''")
                look(page, axe, f"{width} px, the form of {form}")
            page.evaluate("stages[0].form.node.elements.to.value = 99; stages[0].form.changed()")
            page.wait("!!document.querySelector('.continuation [aria-invalid]')")
            look(page, axe, f"{width} px, a violation in it")
            page.evaluate("byId('count').value = '4'; byId('make').click()")
            page.wait("stages.length === 4 && stages.every((stage) => stage.result)")
            look(page, axe, f"{width} px, a row of four")
        check_the_check(page, axe)


if __name__ == "__main__":
    sys.exit(main())
