#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several videos of one prompt on the page: a row that plays in step, by keyboard alone, each of which is made large, gone on from,
rendered again or deleted beside the others, at three widths, light and dark. REEL_PAGE_SHOTS=FOLDER keeps pictures."""

import sys

from browser import opened_page
from page import fill, shoot
from server import running_server, wait_until_serving

CONFIG = "models { name: 'testcard' test_card { step_time { nanos: 5000000 } decode_time_per_frame { nanos: 5000000 } sound: true } }"
DONE = "stages.length === {0} && stages.every((stage) => stage.result)"
LEFTS = "stages.map((stage) => Math.round(stage.node.getBoundingClientRect().left))"
SMALL = ("[...document.querySelectorAll('button, input, select, textarea')].map((e) => e.type === 'checkbox' ? e.closest('label') : e)"
         ".filter((e) => e.offsetParent && e.getBoundingClientRect().height < 43.5).length")


def press(page, key, code, text=""):
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **({"text": text} if text and kind == "keyDown" else {}))


def tab_to(page, condition):
    for _ in range(200):
        if page.evaluate(condition):
            return
        press(page, "Tab", 9)
    raise AssertionError(f"no key leads there: {condition}")


def check_keyboard(page):
    """A row of drafts is asked for, and one of it made large, without a mouse."""
    fill(page, prompt="a red circle", width=256, height=256, frames=25, preset="two-pass", seed=7)
    tab_to(page, "document.activeElement === byId('draft')")
    press(page, " ", 32, " ")
    assert page.evaluate("byId('draft').checked")
    tab_to(page, "document.activeElement === byId('count')")
    press(page, "4", 52, "4")
    assert page.evaluate("byId('count').value") == "4"
    page.wait("byId('estimate').textContent.includes('each')")
    page.evaluate("byId('prompt').focus()")
    press(page, "Enter", 13, "\r")
    page.wait(DONE.format(4))
    assert page.evaluate("stages.map((stage) => stage.result.spec.seed)") == ["7", "8", "9", "10"]
    assert page.evaluate("stages.map((stage) => stage.find('h2').textContent)") == ["Seed 7", "Seed 8", "Seed 9", "Seed 10"]
    assert page.evaluate("byId('row-title').textContent") == "a red circle"
    drafts = page.evaluate("stages.map((stage) => stage.result.name)")
    tab_to(page, "document.activeElement === stages[1].find('.promote')")
    press(page, "Enter", 13, "\r")
    page.wait(DONE.format(4) + f" && stages[1].result.sourceVideo === {drafts[1]!r}")
    assert page.evaluate("stages.map((stage) => stage.result.media.width)") == [128, 256, 128, 128]
    assert page.evaluate("stages.map((stage) => stage.find('.promote').hidden)") == [False, True, False, False]


def check_step(page):
    page.wait("stages.every((stage) => !stage.video.paused && stage.video.currentTime > 0.1)")
    page.evaluate("stages[2].video.pause()")
    page.wait("stages.every((stage) => stage.video.paused)")
    page.evaluate("stages[0].video.currentTime = 0.5")
    page.wait("stages.every((stage) => Math.abs(stage.video.currentTime - 0.5) < 0.1)")
    page.evaluate("stages[3].video.play()")
    page.wait("stages.every((stage) => stage.video.currentTime > 0.65)")  # one that has ended is paused again
    page.evaluate("stages[0].find('.speaker').click()")
    page.evaluate("stages[3].find('.speaker').click()")
    assert page.evaluate("stages.map((stage) => stage.video.muted)") == [True, True, True, False], "more than one is heard"


def look_at_widths(page, name, shown=lambda width: f"innerWidth === {width}"):
    """At a phone's, a tablet's and a desktop's width, light and dark: nothing is cut off or too small for a finger. `shown`: what to wait for."""
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for width in (360, 768, 1280):
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
            page.wait(shown(width))
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"the page is {wide} wide at {width}"
            assert page.evaluate(SMALL) == 0, f"controls are too small for a finger at {width}"
            shoot(page, f"{name}-{width}-{scheme}")


def check_looks(page):
    look_at_widths(page, "row", lambda width: f"new Set({LEFTS}).size === {4 if width == 1280 else 2}")


def check_delete(page):
    page.evaluate("window.confirm = () => true; 0")
    gone = page.evaluate("stages[0].id")
    page.evaluate("stages[0].find('.delete').click()")
    page.wait("stages.length === 3")
    assert page.evaluate(f"fetch('/reel/v1/videos/{gone}').then((reply) => reply.status)") == 404
    page.evaluate("stages[1].find('.another').click()")
    page.wait("stages.length === 3 && stages[1].result && stages[1].result.spec.seed !== '9'")


def check_continuations(page):
    """One of a row is gone on from, and a stretch of another made anew, beside the others."""
    fill(page, preset="", seed=20, frames=49)
    page.evaluate("byId('draft').checked = false; byId('keep').checked = true; byId('make').click()")
    page.wait(DONE.format(4) + " && stages[0].result.spec.seed === '20'")
    before = page.evaluate("stages.map((stage) => stage.result.name)")
    for at, button, kind in ((1, "go-on", "extend"), (2, "again", "retake")):
        page.evaluate(f"stages[{at}].find('.{button}').click()")
        page.evaluate(f"stages[{at}].form.find('[type=submit]').click()")
        page.wait(DONE.format(4) + f" && stages[{at}].result.sourceVideo === {before[at]!r} && stages[{at}].result.spec.source.{kind} !== undefined")
    assert page.evaluate("[0, 3].map((at) => stages[at].result.name)") == [before[0], before[3]]
    assert page.evaluate("stages.every((stage) => stage.find('h2').textContent === 'Seed ' + stage.result.spec.seed)"), "a heading has another's seed"
    shoot(page, "row-continued")
    page.evaluate("byId('keep').checked = false")


def check_refusal(page):
    """What the server refuses of a row leaves none of it."""
    fill(page, width=257)
    page.evaluate("byId('make').click()")
    page.wait("document.activeElement === byId('width') && !stages.length && byId('row-title').hidden")


def main():
    with running_server("--http", "127.0.0.1:0", config=CONFIG) as server, opened_page() as page:
        wait_until_serving(server)
        page.open(f"http://{server.http}/", 1280)
        page.wait("models.length > 0 && !byId('draft-row').hidden")
        check_keyboard(page)
        check_step(page)
        check_looks(page)
        check_delete(page)
        check_continuations(page)
        check_refusal(page)
        assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"


if __name__ == "__main__":
    sys.exit(main())
