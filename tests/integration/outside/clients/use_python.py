# SPDX-License-Identifier: Apache-2.0
"""Run by python_client.py with the Python that has reel-client installed: use_python.py (blocking|awaited|bound|detached|sending) SERVER FOLDER."""

import asyncio
import base64
import faulthandler
import hashlib
import os
import pathlib
import sys

import grpc
from reel.v1 import video_pb2, video_service_pb2
from reel_client import AsyncClient, Client, ReelError, adapter, condition, extension, promotion, refinement, retake, sound

SPEC = {"width": 256, "height": 256, "num_frames": 25, "num_inference_steps": 4, "seed": 7}


# A picture of one pixel.
DOT = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
SILENCE = base64.b64decode("UklGRqQ+AABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YYA+AAA=") + bytes(16_000)  # a second of 8,000 samples of 16 bits


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def check_saved(video, path):
    assert video.state == video_pb2.VIDEO_STATE_SUCCEEDED, video
    assert sha256(path) == video.media.sha256 and path.stat().st_size == video.media.size_bytes
    assert not path.with_name(f"{path.name}.part").exists()


def use_client(server, folder):
    with Client(server) as reel:
        kinds = []
        video = reel.save("a red circle", folder / "a.mp4", lambda event: kinds.append(event.WhichOneof("event")), **SPEC)
        check_saved(video, folder / "a.mp4")
        assert kinds[0] == "accepted" and kinds[-1] == "finished" and {"progress", "media"} <= set(kinds), kinds
        check_download(reel, video, folder)
        check_refusal(reel, folder)
        check_paths(reel, video, folder)
        assert reel.get(video.name).name == video.name
        assert video.name in [v.name for v in reel.list()]
        assert reel.estimate("a red circle", **SPEC).admissible
        assert reel.models()[0].is_default
        several = reel.create_all("a red circle", 3, **SPEC | {"seed": 7})
        assert [v.spec.seed for v in several] == [7, 8, 9] and len({v.name for v in several}) == 3
        check_beginnings(reel, folder)
        check_files(reel, folder)
        check_older_server(reel, folder)
        check_leaving(reel)
        reel.delete(video.name)
        assert video.name not in [v.name for v in reel.list()]


def check_download(reel, video, folder):
    """From nothing, from a piece of it, and from a piece of something else."""
    whole = (folder / "a.mp4").read_bytes()
    for name, part in (("fresh", b""), ("resumed", whole[:1000]), ("other", b"x" * 1000), ("longer", whole + b"x")):
        (folder / f"{name}.mp4.part").write_bytes(part)
        media = reel.download(video.name, folder / f"{name}.mp4")
        assert media.sha256 == sha256(folder / f"{name}.mp4") == video.media.sha256, name


def check_refusal(reel, folder):
    try:
        reel.save("a red circle", folder / "bad.mp4", width=33, height=31)
        raise AssertionError("sizes that are no multiples were taken")
    except ReelError as error:
        assert error.code == "INVALID_ARGUMENT" and error.reason == "INVALID_SPEC", vars(error)
        assert {v.field for v in error.violations} >= {"spec.width", "spec.height"}, error.violations
    assert not list(folder.glob("bad.mp4*"))
    grain = adapter("grain", 0.5, passes=[1, 0.25], audio=0)
    assert (grain.scale, list(grain.pass_scales), dict(grain.part_scales)) == (0.5, [1, 0.25], {"audio": 0}) and not adapter("grain").HasField("scale")
    try:
        reel.save("a red circle", folder / "bad.mp4", adapters=[grain])
        raise AssertionError("an adapter of no model was taken")
    except ReelError as error:
        assert [v.field for v in error.violations] == ["spec.adapters[0].name"], error.violations


def check_paths(reel, video, folder):
    """What is no regular file is refused before the server is asked; behind a link the file is replaced."""
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "lost").symlink_to("nothing")
    before = len(list(reel.list()))
    for name in ("folder", "fifo", "lost"):
        for write in (lambda path: reel.save("a red circle", path, **SPEC), lambda path: reel.download(video.name, path)):
            try:
                write(folder / name)
                raise AssertionError(f"{name} was replaced")
            except OSError as error:
                assert error.filename == str(folder / name), error
            assert not (folder / f"{name}.part").exists(), name
    assert len(list(reel.list())) == before, "a video was rendered for nothing"
    (folder / "folder/real.mp4").touch()
    (folder / "link.mp4").symlink_to("folder/real.mp4")
    reel.download(video.name, folder / "link.mp4")
    assert (folder / "link.mp4").is_symlink() and sha256(folder / "folder/real.mp4") == video.media.sha256


def check_beginnings(reel, folder):
    """A picture and a clip of the disk, and videos that go on from one that was kept."""
    draft = reel.save("a red circle", folder / "draft.mp4", preset="two-pass", stop_after_pass=1)
    large = reel.save(promotion(draft, keep_state=True), folder / "large.mp4")
    assert large.media.width == 2 * draft.media.width and large.state_size_bytes > 0, large
    (folder / "silence.wav").write_bytes(SILENCE)
    sung = reel.save("a red circle", folder / "sung.mp4", model="singing", conditions=[sound(folder / "silence.wav")], num_inference_steps=2)
    assert [c.content_type for c in sung.spec.conditions] == ["audio/wav"] and "mp4a" in sung.media.content_type, sung
    (folder / "dot.png").write_bytes(DOT)
    pinned = [condition(folder / "dot.png"), condition(folder / "a.mp4", 8, 0.5)]
    film = reel.save("a red circle", folder / "film.mp4", conditions=pinned, keep_state=True, **SPEC)
    assert [(c.content_type, c.frame_index) for c in film.spec.conditions] == [("image/png", 0), ("video/mp4", 8)], film.spec.conditions
    longer = reel.save(extension(film, 24, "a blue star", 9), folder / "longer.mp4")
    assert (longer.source_video, longer.spec.num_frames, longer.spec.prompt) == (film.name, 33, "a blue star"), longer
    other = reel.save(retake(film.name, 0.25, 25 / 24, seed=3), folder / "other.mp4")
    assert (other.spec.num_frames, other.spec.prompt, other.spec.seed) == (25, "a red circle", 3), other
    with open(folder / "huge.png", "wb") as huge:
        huge.truncate((256 << 20) + 1)
    for name, read in (("huge.png", condition), ("huge.png", sound), ("nothing.png", condition), ("dot.png", refinement)):
        try:
            read(folder / name)
            raise AssertionError(f"{name} was taken")
        except (ValueError, OSError) as error:
            assert name in str(error), error


def padded(clip, size):
    """The same clip with a box at its end that means nothing."""
    return clip + (size - len(clip)).to_bytes(4, "big") + b"free" + bytes(size - len(clip) - 8)


def check_files(reel, folder):
    """What is too large for a request goes ahead of it by itself, and gives the same video; `upload` tells how far it is."""
    clip = (folder / "a.mp4").read_bytes()
    large = folder / "large.mp4"
    large.write_bytes(padded(clip, 5_000_000))
    same = [reel.save("a red circle", folder / "pinned.mp4", conditions=[condition(path)], **SPEC) for path in (folder / "a.mp4", large)]
    assert same[0].media.sha256 == same[1].media.sha256 and same[1].spec.conditions[0].size_bytes == 5_000_000, same
    assert reel.estimate("a red circle", conditions=[condition(large)], **SPEC).admissible
    refined = reel.save(refinement(large, strength=0.5, width=512, height=512, num_frames=25), folder / "refined.mp4")
    assert (refined.spec.conditions[0].use, refined.spec.denoise_strength, refined.media.width) == (video_pb2.CONDITION_USE_REFINE, 0.5, 512), refined.spec
    (folder / "song.mp4").write_bytes(padded((folder / "sung.mp4").read_bytes(), 2_000_000))
    heard = reel.save("a red circle", folder / "heard.mp4", model="singing", conditions=[sound(folder / "song.mp4")], num_inference_steps=2)
    assert heard.spec.conditions[0].content_type == "audio/mp4", heard.spec
    (folder / "piece.mp4").write_bytes(padded(clip, 1 << 20))
    four = [condition(folder / "piece.mp4", frame) for frame in (0, 8, 16, 24)]  # each has room in a request, all together have not
    assert len(reel.create("a red circle", conditions=four, **SPEC | {"num_frames": 49}).spec.conditions) == 4
    told = []
    for what in (large, large.read_bytes()):
        uploaded = reel.upload(what, lambda sent, size: told.append((sent, size)))
        assert uploaded.name == f"files/{sha256(large)}" and uploaded.content_type == "video/mp4", uploaded
        assert len(told) > 10 and told[-1] == (5_000_000, 5_000_000) and told == sorted(told), told
        told.clear()
    named = reel.save("a red circle", folder / "named.mp4", conditions=[video_pb2.Condition(file=uploaded.name)], **SPEC)
    assert named.media.sha256 == same[0].media.sha256
    for what, progress, why in ((b"", None, ValueError), (folder / "nothing.mp4", None, OSError), (large, lambda sent, size: 1 // 0, ZeroDivisionError)):
        try:
            reel.upload(what, progress)
            raise AssertionError(f"{why} was expected")
        except why:
            pass


def forget_uploads(reel):
    """As if the server were older: it answers UNIMPLEMENTED."""
    reel.videos.UploadFile = reel._channel.stream_unary("/reel.v1.VideoService/NoUploadFile", video_service_pb2.UploadFileRequest.SerializeToString,
                                                        video_service_pb2.UploadFileResponse.FromString)


def hide_one_answer(reel):
    """As gRPC for asyncio hides three of a hundred that come while it still sends."""
    known, hidden = reel.videos.UploadFile, []

    def upload_file(*args, **kwargs):
        if hidden:
            return known(*args, **kwargs)
        hidden.append(grpc.aio.AioRpcError(grpc.StatusCode.INTERNAL, grpc.aio.Metadata(), grpc.aio.Metadata(), "Internal error from Core"))
        raise hidden[0]

    reel.videos.UploadFile = upload_file


def check_older_server(reel, folder):
    """A file goes in the request where it has room, and is refused by its size where it has not."""
    known = reel.videos.UploadFile
    forget_uploads(reel)
    clip = folder / "older.mp4"
    clip.write_bytes(padded((folder / "a.mp4").read_bytes(), 2_000_000))
    assert reel.create("a red circle", conditions=[condition(clip)], **SPEC).spec.conditions[0].size_bytes == 2_000_000
    before = len(list(reel.list()))
    try:
        reel.create("a red circle", conditions=[condition(clip), condition(clip, 8)], **SPEC)
        raise AssertionError("4 MB were sent in a request")
    except ReelError as error:
        assert error.code == "INVALID_ARGUMENT" and "4000000 bytes" in error.message and "no files ahead" in error.message, vars(error)
    assert len(list(reel.list())) == before
    reel.videos.UploadFile = known


def check_leaving(reel):
    """Leaving ends a job, unless it is detached."""
    for detached in (False, True):
        request = video_service_pb2.GenerateVideoRequest(detached=detached)
        events = reel.generate(request, prompt="a red circle", **SPEC | {"num_inference_steps": 40 if detached else 100})
        name = next(events).accepted.name
        events.close()
        *_, last = ends(reel, name)
        assert last == ("finished" if detached else "CANCELLED"), last


def ends(reel, name):
    try:
        for event in reel.watch(name, without_media=True):
            yield event.WhichOneof("event")
    except ReelError as error:
        yield error.code


def use_broken_connection(server, folder, detached):
    """The proxy cuts the first connections, also in the middle of the file; nobody notices."""
    request = video_service_pb2.GenerateVideoRequest(detached=detached)
    large = {"width": 512, "height": 512, "num_frames": 49, "encoding": video_pb2.EncodingOptions(crf=5)}
    with Client(server) as reel:
        video = reel.save(request, folder / "cut.mp4", prompt="a red circle", **SPEC | large)
        assert video.media.size_bytes > 300_000, video.media
        check_saved(video, folder / "cut.mp4")


def use_broken_upload(server):
    """What the proxy cuts is sent again."""
    with Client(server) as reel:
        content = padded(b"1234ftyp", 5_000_000)
        assert reel.upload(content).name == f"files/{hashlib.sha256(content).hexdigest()}"


async def use_async_client(server, folder):
    async with AsyncClient(server) as reel:
        videos = await asyncio.gather(*(reel.save("a red circle", folder / f"{n}.mp4", **SPEC | {"seed": n}) for n in range(3)))
        for n, video in enumerate(videos):
            check_saved(video, folder / f"{n}.mp4")
        assert (await reel.get(videos[0].name)).spec.seed == 0
        assert {v.name async for v in reel.list()} >= {v.name for v in videos}
        created = await reel.create("a red circle", **SPEC)
        kinds = [event.WhichOneof("event") async for event in reel.watch(created.name)]
        assert kinds[0] == "accepted" and kinds[-1] == "finished", kinds
        await reel.download(created.name, folder / "created.mp4")
        large = padded((folder / "created.mp4").read_bytes(), 2_000_000)
        (folder / "large.mp4").write_bytes(large)
        told = []
        uploaded = await reel.upload(large, lambda sent, size: told.append(sent))
        assert uploaded.size_bytes == told[-1] == 2_000_000, uploaded
        pinned = await reel.save("a red circle", folder / "pinned.mp4", conditions=[condition(folder / "large.mp4")], **SPEC)
        assert pinned.spec.conditions[0].size_bytes == 2_000_000, pinned.spec
        forget_uploads(reel)
        hide_one_answer(reel)
        inside = await reel.create("a red circle", conditions=[condition(folder / "large.mp4")], **SPEC)
        assert inside.spec.conditions[0].size_bytes == 2_000_000, inside.spec
        try:
            await reel.get("videos/nothing")
            raise AssertionError("a video that nobody made was found")
        except ReelError as error:
            assert error.code == "NOT_FOUND", vars(error)
        events = reel.generate("a red circle", **SPEC | {"num_inference_steps": 40})
        name = (await events.__anext__()).accepted.name
        await events.aclose()
        try:
            async for _ in reel.watch(name):
                pass
            raise AssertionError("the job that was left was not cancelled")
        except ReelError as error:
            assert error.code == "CANCELLED", vars(error)


def main():
    which, server, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    faulthandler.dump_traceback_later(60, exit=True)
    if which == "awaited":
        asyncio.run(use_async_client(server, folder))
    elif which == "blocking":
        use_client(server, folder)
    elif which == "sending":
        use_broken_upload(server)
    else:
        use_broken_connection(server, folder, detached=which == "detached")


if __name__ == "__main__":
    main()
