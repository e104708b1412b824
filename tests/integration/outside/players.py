#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Players that others wrote play a film with sound: every picture, each beep where a second begins, and of a film that is cut at any byte all that
has come. FFmpeg and mpv read MP4 by libavformat, GStreamer by a reader of its own.

By hand, after deploy/build/setup --tests --players: ctest --test-dir build/release -L players -V
"""

import array
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from server import find_binary, find_tool, run, running_server

FRAMES, RATE, SAMPLES = 121, 24, 48000
# It hums, and beeps when a second of the video begins.
HUMMING = "models { name: 'testcard' test_card { sound: true } }"
LOUD = 0.35
CUTS, SEED = 24, 49
LATE_SECONDS = 0.002
PACKET_SECONDS = 1024 / SAMPLES  # of AAC
PATIENCE_SECONDS = 120


def played(*command):
    """Its output. A player may refuse what has no picture yet, but not crash."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode >= 0, f"{command[0]} ended by signal {-done.returncode}"
    return done.stdout


def ffmpeg(film, folder):
    """Its times begin before the first picture, with what AAC begins with: nobody hears that."""
    pictures = played("ffmpeg", "-v", "error", "-i", film, "-an", "-f", "framecrc", "-")
    played("ffmpeg", "-v", "error", "-y", "-copyts", "-i", film, "-af", "atrim=start=0", "-ac", 2, "-f", "s16le", folder / "sound")
    return sum(not line.startswith(b"#") for line in pictures.splitlines())


def mpv(film, folder):
    pictures = folder / "pictures"
    pictures.mkdir()
    plain = ("mpv", "--no-config", "--no-terminal", "--untimed")
    played(*plain, "--no-audio", "--vo=image", f"--vo-image-outdir={pictures}", film)
    played(*plain, "--no-video", "--ao=pcm", "--ao-pcm-waveheader=no", "--audio-format=s16", f"--ao-pcm-file={folder / 'sound'}", film)
    return len(list(pictures.iterdir()))


def gstreamer(film, folder):
    told = played("gst-launch-1.0", "-v", "filesrc", f"location={film}", "!", "qtdemux", "name=film",
                  "film.video_0", "!", "queue", "!", "h264parse", "!", "avdec_h264", "!", "fakesink", "silent=false",
                  "film.audio_0", "!", "queue", "!", "aacparse", "!", "avdec_aac", "!", "audioconvert", "!", "audio/x-raw,format=S16LE",
                  "!", "filesink", f"location={folder / 'sound'}")
    return told.count(b"chain ")


def play(player, film):
    """How many pictures it shows, and what is heard on the left."""
    with tempfile.TemporaryDirectory(prefix="reel-player-") as name:
        pictures = player(film, pathlib.Path(name))
        sound = pathlib.Path(name, "sound")
        samples = array.array("h", sound.read_bytes() if sound.exists() else b"")
        return pictures, samples[::2]


def beeps(samples):
    """When each begins, in seconds."""
    found, quiet_since = [], -SAMPLES
    for at, value in enumerate(samples):
        if abs(value) > LOUD * 32768:
            if at - quiet_since > SAMPLES // 4:
                found.append(at / SAMPLES)
            quiet_since = at
    return found


def boxes(data):
    """(type, where its content begins, where it ends) of each whole one."""
    at = 0
    while at + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if size < 8 or at + size > len(data):
            return
        yield kind, at + 8, at + size
        at += size


def pictures_of(fragment):
    """Of the first track."""
    for kind, begin, end in boxes(fragment):
        if kind == b"traf":
            return next(struct.unpack_from(">I", fragment, begin + at + 4)[0] for kind, at, _ in boxes(fragment[begin:end]) if kind == b"trun")
    return 0


def whole_pictures(data):
    """How many came with all bytes of their fragment."""
    pictures, announced = 0, 0
    for kind, begin, end in boxes(data):
        if kind == b"moof":
            announced = pictures_of(data[begin:end])
        elif kind == b"mdat":
            pictures, announced = pictures + announced, 0
    return pictures


def check_whole(player, film):
    pictures, samples = play(player, film)
    assert pictures == FRAMES, f"{player.__name__} shows {pictures} of {FRAMES} pictures"
    heard = beeps(samples)
    assert len(heard) == -(-FRAMES // RATE), f"{player.__name__} plays beeps at {heard}"
    late = max(abs(at - second) for second, at in enumerate(heard))
    assert late <= LATE_SECONDS, f"{player.__name__} plays beeps at {heard}"
    return late


def check_cut(player, film, data):
    """Returns how many pictures had come."""
    film.write_bytes(data)
    expected = whole_pictures(data)
    pictures, samples = play(player, film)
    assert expected <= pictures <= FRAMES, f"{player.__name__} shows {pictures} of {expected} pictures in {len(data)} bytes"
    heard = len(samples) / SAMPLES
    assert heard >= expected / RATE - PACKET_SECONDS, f"{player.__name__} plays {heard:.3f} s of sound with {expected} pictures in {len(data)} bytes"
    return expected


def main():
    for tool in ("ffmpeg", "mpv", "gst-launch-1.0"):
        find_tool(tool)
    with tempfile.TemporaryDirectory(prefix="reel-players-") as name:
        film, part = pathlib.Path(name, "film.mp4"), pathlib.Path(name, "part.mp4")
        with running_server(config=HUMMING) as server:
            run(find_binary("reel"), "--server", server.grpc, "generate", "a red circle", "--width", 320, "--height", 192, "--frames", FRAMES,
                "--steps", 2, "-o", film)
        data = film.read_bytes()
        ends = [end for kind, _, end in boxes(data) if kind == b"mdat"]
        drawn = random.Random(SEED)
        cuts = sorted({*(drawn.randrange(len(data)) for _ in range(CUTS)), *(end + by for end in ends for by in (-1, 0, 1) if end + by < len(data))})
        assert whole_pictures(data) == FRAMES and len(ends) > 3, f"{len(ends)} fragments"
        for player in (ffmpeg, mpv, gstreamer):
            late = check_whole(player, film)
            shown = [check_cut(player, part, data[:cut]) for cut in cuts]
            assert len(set(shown)) >= len(ends), shown
            print(f"FIGURE {player.__name__}: {FRAMES} of {FRAMES} pictures, beeps within {1000 * late:.1f} ms, {len(cuts)} cuts")


if __name__ == "__main__":
    sys.exit(main())
