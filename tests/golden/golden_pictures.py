# SPDX-License-Identifier: Apache-2.0
"""Small pictures in the formats that conditions come in, and what the reference makes of them.

The reference loads a picture with diffusers' `load_image` (upright, RGB) and scales it with its
VideoProcessor, which is Pillow's Lanczos filter. `NAME.rgb` holds the pixels after scaling to
SIZE; `NAME.upright.rgb` those before it, of small pictures: width and height, then the pixels.
"""
import io
import pathlib
import struct
import zlib

FOLDER = pathlib.Path(__file__).parent / "pictures"
SIZE = (64, 32)


def picture(width, height, channels=3):
    """Smooth waves with a hard edge, so that both filters and rounding show."""
    import numpy
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [numpy.sin(x / (3 + c) + c) * numpy.cos(y / (4 + c)) * 120 + 128 for c in range(channels)]
    array = numpy.stack(planes, -1)
    array[height // 3:height // 2, width // 4:width // 2] = [250, 10, 90, 128][:channels]
    return array.round().astype(numpy.uint8)


def exif(orientation):
    """A TIFF block with this entry alone."""
    return b"Exif\0\0MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def deep(array):
    """A PNG of 16 bits a sample, which Pillow reads and does not write."""
    height, width, _ = array.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in array)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def sources():
    """Name of the file to its bytes."""
    from PIL import Image
    rgb = Image.fromarray(picture(41, 27))
    rgba = Image.fromarray(picture(41, 27, 4), "RGBA")

    def saved(image, kind, **options):
        buffer = io.BytesIO()
        image.save(buffer, kind, **options)
        return buffer.getvalue()

    yield "rgb.png", saved(rgb, "PNG")
    yield "rgba.png", saved(rgba, "PNG")
    yield "grey.png", saved(rgb.convert("L"), "PNG")
    yield "grey_alpha.png", saved(rgba.convert("LA"), "PNG")
    yield "palette.png", saved(rgb.quantize(16), "PNG")
    yield "bits.png", saved(rgb.convert("1"), "PNG")
    yield "deep.png", deep(picture(41, 27).astype("uint16") * 257 ^ 0x5A)
    yield "turned.png", saved(rgb, "PNG", exif=exif(6)[6:])
    yield "large.png", saved(Image.fromarray(picture(150, 110)), "PNG")
    for sampling, name in ((0, "444"), (1, "422"), (2, "420")):
        yield f"{name}.jpg", saved(rgb, "JPEG", quality=90, subsampling=sampling)
    yield "inks.jpg", saved(rgb.convert("CMYK"), "JPEG", quality=90)  # refused
    yield "grey.jpg", saved(rgb.convert("L"), "JPEG", quality=90)
    yield "progressive.jpg", saved(rgb, "JPEG", quality=80, progressive=True)
    for orientation in range(2, 9):
        yield f"turned_{orientation}.jpg", saved(rgb, "JPEG", quality=90, exif=exif(orientation))
    yield "lossless.webp", saved(rgba, "WEBP", lossless=True)
    yield "lossy.webp", saved(rgb, "WEBP", quality=90)


def generate():
    import numpy
    from diffusers.utils import load_image
    from diffusers.video_processor import VideoProcessor
    from PIL import Image
    FOLDER.mkdir(exist_ok=True)
    for name, data in sources():
        (FOLDER / name).write_bytes(data)
        if name == "inks.jpg":
            continue
        image = load_image(Image.open(io.BytesIO(data)))
        if image.size[0] < 100:
            upright = struct.pack("<II", *image.size) + image.tobytes()
            (FOLDER / f"{name}.upright.rgb").write_bytes(upright)
        scaled = VideoProcessor(vae_scale_factor=32).preprocess(image, height=SIZE[1], width=SIZE[0])
        array = ((scaled[0] + 1) * 127.5).round().byte()
        (FOLDER / f"{name}.rgb").write_bytes(numpy.ascontiguousarray(array.permute(1, 2, 0)).tobytes())
    print(sum(path.stat().st_size for path in FOLDER.iterdir()), "bytes of pictures")
