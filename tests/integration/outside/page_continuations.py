#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Going on from a finished video on the page: behind its end, and with a stretch of it made anew, by keyboard alone and on the bar; refusals where the
field is, with nothing lost; at three widths, light and dark. REEL_PAGE_SHOTS=FOLDER keeps pictures."""

import sys

from browser import opened_page
from page import fill
from page_row import look_at_widths, press, tab_to
from server import running_server, wait_until_serving

CONFIG = "models { name: 'testcard' test_card { step_time { nanos: 2000000 } decode_time_per_frame { nanos: 2000000 } sound: true } }"
FORM = "stages[0].form.node.elements"
SHOWN = "['promote', 'goOn', 'again'].map((name) => !stages[0].find('.' + name.replace('O', '-o')).hidden)"


def put(page, name, value):
    page.evaluate(f"{FORM}.{name}.value = {value!r}; {FORM}.{name}.dispatchEvent(new Event('input', {{bubbles: true}}))")


def error_at(page, name):
    return f"{FORM}.{name}.getAttribute('aria-invalid') === 'true' && byId({FORM}.{name}.id + '-error').textContent"


def submit_by_key(page):
    tab_to(page, "document.activeElement === stages[0].form.find('[type=submit]')")
    press(page, "Enter", 13, "\r")


def make_kept(page):
    """Ticks the choice to keep, by keyboard; without it there is nothing to go on from."""
    fill(page, prompt="a red circle", width=256, height=192, frames=49, steps=2)
    page.evaluate("byId('make').click()")
    page.wait("stages[0]?.result")
    assert page.evaluate(SHOWN) == [False, False, False], "nothing was kept"
    tab_to(page, "document.activeElement === byId('keep')")
    press(page, " ", 32, " ")
    page.evaluate("byId('make').click()")
    page.wait("stages[0]?.result?.spec.keepState")
    assert page.evaluate(SHOWN) == [False, True, True]


def check_extend(page):
    source = page.evaluate("stages[0].result.name")
    tab_to(page, "document.activeElement === stages[0].find('.go-on')")
    press(page, "Enter", 13, "\r")
    assert page.evaluate(f"document.activeElement === {FORM}.prompt && {FORM}.prompt.value") == "a red circle"
    assert page.evaluate(f"[{FORM}.seconds.value, {FORM}.overlap.value, stages[0].find('.go-on').getAttribute('aria-expanded')]") == ["3", "25", "true"]
    page.wait("stages[0].form.find('.estimate').textContent.startsWith('72 new frames. Estimate: ')")
    put(page, "overlap", 24)
    assert "24" in page.wait(error_at(page, "overlap"))
    submit_by_key(page)
    page.wait(f"document.activeElement === {FORM}.overlap")
    assert page.evaluate("[stages.length, stages[0].result.name]") == [1, source], "a refusal took the video away"
    put(page, "overlap", 9)
    put(page, "seconds", "1")
    put(page, "prompt", "a blue star")
    page.wait("stages[0].form.find('.estimate').textContent.startsWith('24 new frames')")
    submit_by_key(page)
    page.wait(f"stages[0]?.result?.sourceVideo === {source!r}")
    made = page.evaluate("({ prompt: stages[0].result.spec.prompt, frames: stages[0].result.spec.numFrames, extend: stages[0].result.spec.source.extend,"
                         " heading: stages[0].find('h2').textContent, stages: stages.length })")
    assert made == {"prompt": "a blue star", "frames": 33, "extend": {"numFrames": 24, "overlapFrames": 9}, "heading": "a blue star", "stages": 1}, made
    command = page.evaluate("asReel(stages[0].sent)")
    assert command.startswith(f"reel extend '{source}' 'a blue star' -o video.mp4 --keep-state --frames '24' --overlap '9'"), command
    assert page.evaluate(SHOWN) == [False, True, True], "an extension is gone on from, too"


def drag(page, begin, end):
    page.evaluate("stages[0].form.find('.stretch').scrollIntoView({ block: 'center' })")
    box = page.evaluate("(({ left, top, width, height }) => ({ left, top, width, height }))(stages[0].form.find('.stretch').getBoundingClientRect())")
    for kind, share, buttons in (("mousePressed", begin, 1), ("mouseMoved", (begin + end) / 2, 1), ("mouseMoved", end, 1), ("mouseReleased", end, 0)):
        page.call("Input.dispatchMouseEvent", type=kind, x=box["left"] + share * box["width"], y=box["top"] + box["height"] / 2,
                  button="left", buttons=buttons, clickCount=1)


def check_retake(page):
    source = page.evaluate("stages[0].result.name")
    duration = 33 / 24
    page.evaluate("stages[0].find('.go-on').click()")
    page.evaluate("stages[0].video.pause(); stages[0].video.currentTime = stages[0].video.duration")
    page.evaluate("stages[0].find('.again').click()")  # one form at a time
    assert page.evaluate("[document.querySelectorAll('.continuation').length, stages[0].form.kind]") == [1, "retake"]
    page.wait("stages[0].form.find('.estimate').textContent.startsWith('Estimate: ')")  # of the video's last second, whose end is rounded
    assert page.evaluate(f"{FORM}.to.getAttribute('aria-invalid')") != "true"
    drag(page, 0.75, 0.25)
    marked = page.evaluate(f"[{FORM}.from.value, {FORM}.to.value].map(Number)")
    assert abs(marked[0] - 0.25 * duration) < 0.03 and abs(marked[1] - 0.75 * duration) < 0.03, marked
    page.wait("Math.abs(stages[0].video.currentTime - 0.25 * 33 / 24) < 0.05 && stages[0].video.paused")  # one sees where the end is
    put(page, "to", "9")
    assert "9 s is behind" in page.wait(error_at(page, "to"))
    put(page, "from", "0.5")
    put(page, "to", "1")
    put(page, "keeps", "keepSound")
    page.wait("stages[0].form.find('.estimate').textContent.startsWith('Estimate: ')")
    share = page.evaluate("parseFloat(stages[0].form.find('.marked').style.width)")
    assert abs(share - 100 * 0.5 / duration) < 1, share
    submit_by_key(page)
    page.wait(f"stages[0]?.result?.sourceVideo === {source!r}")
    retake = page.evaluate("stages[0].result.spec.source.retake")
    assert retake["keepSound"] and float(retake["begin"][:-1]) == 0.5 and retake["end"] == "1s" and page.evaluate("stages[0].result.spec.numFrames") == 33, retake
    assert " --from '0.5' --to '1' --keep-sound" in page.evaluate("asReel(stages[0].sent)")
    page.evaluate("stages[0].find('.again').click()")
    press(page, "Escape", 27)
    assert page.evaluate("[stages[0].form, document.activeElement === stages[0].find('.again')]") == [None, True]


def check_reopened(page):
    """A video of the list is gone on from as well, and asked for anew as it was."""
    page.wait("byId('recent').firstElementChild.dataset.key.startsWith(stages[0].result.name)")
    page.evaluate("document.querySelector('#recent button').click()")
    page.wait("stages[0]?.result?.spec.source?.retake")
    assert page.evaluate(SHOWN) == [False, True, True]
    source = page.evaluate("stages[0].result.sourceVideo")
    page.evaluate("stages[0].find('.another').click()")
    page.wait(f"stages[0]?.result?.sourceVideo === {source!r} && stages[0].sent.seed")


def check_draft(page):
    """A draft is made large first."""
    fill(page, preset="two-pass", frames=25, steps="")
    page.evaluate("byId('draft').checked = true; byId('make').click()")
    page.wait("stages[0]?.result?.spec.stopAfterPass")
    assert page.evaluate(SHOWN) == [True, False, False]
    page.evaluate("byId('draft').checked = false; byId('preset').value = ''; byId('make').click()")
    page.wait("stages[0]?.result?.spec.keepState && !stages[0].result.spec.stopAfterPass")


def check_looks(page):
    for kind in ("go-on", "again"):
        page.evaluate(f"stages[0].leave(); stages[0].find('.{kind}').click()")
        if kind == "go-on":
            put(page, "overlap", 24)
            page.wait(error_at(page, "overlap"))
        look_at_widths(page, kind)


def main():
    with running_server("--http", "127.0.0.1:0", config=CONFIG) as server, opened_page() as page:
        wait_until_serving(server)
        page.open(f"http://{server.http}/", 1280)
        page.wait("models.length > 0 && !byId('draft-row').hidden")
        make_kept(page)
        check_extend(page)
        check_retake(page)
        check_reopened(page)
        check_draft(page)
        check_looks(page)
        assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"


if __name__ == "__main__":
    sys.exit(main())
