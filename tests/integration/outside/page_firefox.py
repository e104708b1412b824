#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page's main walk in Debian's Firefox, by keyboard and mouse: a prompt is written, its video plays while it is made, and what is downloaded is the
video to the byte. REEL_PAGE_SHOTS=FOLDER keeps pictures.

By hand, after deploy/build/setup --tests --firefox: ctest --test-dir build/release -L firefox -V
"""

import hashlib
import pathlib
import sys
import tempfile

from firefox import opened_page
from page import MARKUP, NOTE_START, SLOW, check_form, fill, shoot
from server import running_server, until, wait_until_serving


def write_prompt(page):
    """Markup in it stays text."""
    page.evaluate("byId('prompt').value = ''")
    page.click("#prompt")
    page.type(MARKUP)
    assert page.evaluate("byId('prompt').value") == MARKUP
    fill(page, width=768, height=512, frames=121, steps=10)
    page.wait("byId('estimate').textContent.startsWith('Estimate: ') && !document.querySelector('[aria-invalid]')")


def watch(page):
    """It plays before it is finished, and all of it is there in the end."""
    page.evaluate(NOTE_START)
    page.click("#make")
    page.wait("stages[0]?.video.currentTime > 0.3")
    seen = page.evaluate("({ done: !!stages[0].result, size: stages[0].player.size })")
    assert not seen["done"], f"it was finished before it played: {seen}"
    shoot(page, "firefox-playing")
    page.wait("stages[0].result && stages[0].video.buffered.length === 1 && Math.abs(stages[0].video.duration - 121 / 24) < 0.1")
    figures = page.evaluate("({ began: began.bytes, size: stages[0].player.size, told: Number(stages[0].result.media.sizeBytes),"
                            " frames: stages[0].video.getVideoPlaybackQuality().totalVideoFrames })")
    assert figures["size"] == figures["told"] and figures["began"] <= figures["size"] / 4, figures
    shoot(page, "firefox-finished")
    return figures


def download(page, folder):
    told = page.evaluate("({ id: stages[0].id, sha256: stages[0].result.media.sha256 })")
    page.click(".stage .download")
    until("the download has ended", lambda: page.evaluate("true") and page.downloads)  # events come before answers
    assert page.downloads[0]["status"] == "complete", page.downloads
    file = pathlib.Path(page.downloads[0]["filepath"])
    assert file == folder / f"reel-{told['id']}.mp4", file
    assert hashlib.sha256(file.read_bytes()).hexdigest() == told["sha256"]


def main():
    with tempfile.TemporaryDirectory(prefix="reel-downloads-") as folder, running_server("--http", "127.0.0.1:0", config=SLOW) as server:
        with opened_page(folder) as page:
            page.open(f"http://{server.http}/", 1280)
            wait_until_serving(server)
            check_form(page)
            write_prompt(page)
            figures = watch(page)
            assert page.evaluate("document.querySelector('.stage h2').textContent") == MARKUP
            assert page.evaluate("[window.hacked, document.querySelectorAll('b, main img[src=x]').length]") == [None, 0]
            download(page, pathlib.Path(folder))
            assert page.evaluate("window.refused") == [] and page.errors == [], f"{page.evaluate('refused')} {page.errors}"
            print(f"{page.browser['browserName']} {page.browser['browserVersion']}: plays at {figures['began']} of {figures['size']} bytes, the download is the video")


if __name__ == "__main__":
    sys.exit(main())
