"""Writes pictures.json: PNG files of all kinds and what TensorFlow decodes from them, one picture a line.

Usage: python3 pictures.py pictures.json   (with TensorFlow installed; made with 2.21)

A picture has its file in hexadecimal digits, and by the number of channels asked for (0: the file's own) the shape and
the bytes of tf.io.decode_png, or the word "error" where TensorFlow refuses it. "image" is tf.io.decode_image's answer
(channels=3). The pixels are random, from a fixed seed; the pictures are a few pixels wide, so that the last byte of a
row is not full and most passes of interlacing have no row.
"""
import json
import os
import random
import struct
import sys
import zlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

HEIGHT, WIDTH = 5, 7
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
DEPTHS = {GREY: (1, 2, 4, 8, 16), RGB: (8, 16), PALETTE: (1, 2, 4, 8), GREY_ALPHA: (8, 16), RGBA: (8, 16)}
NAMES = {GREY: "grey", RGB: "rgb", PALETTE: "palette", GREY_ALPHA: "grey and alpha", RGBA: "rgba"}
# Of interlacing: first row, first column, steps of both.
PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def chunk(kind, data=b""):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_row(pixels, depth):
    """A row of pixels (tuples of samples) behind the number of its filter (none)."""
    samples = [sample for pixel in pixels for sample in pixel]
    if depth == 16:
        return b"\0" + b"".join(struct.pack(">H", sample) for sample in samples)
    bits = "".join(format(sample, f"0{depth}b") for sample in samples)
    bits += "0" * (-len(bits) % 8)
    return b"\0" + bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def png(kind, depth, interlaced=False, transparent=None, extra=b"", header_size=None):
    rng = random.Random(f"{kind} {depth}")
    colours = min(1 << depth, 11)  # of the palette
    limit = colours if kind == PALETTE else 1 << depth
    rows = [[tuple(rng.randrange(limit) for _ in range(SAMPLES[kind])) for _ in range(WIDTH)] for _ in range(HEIGHT)]
    data = b""
    for top, left, down, right in PASSES if interlaced else ((0, 0, 1, 1),):
        for row in rows[top::down]:
            if row[left::right]:
                data += packed_row(row[left::right], depth)
    width, height = header_size or (WIDTH, HEIGHT)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced))
    file += extra
    if kind == PALETTE:
        file += chunk(b"PLTE", bytes(rng.randrange(256) for _ in range(3 * colours)))
    if transparent == "colour":  # that of the first pixel
        values = bytes(rng.randrange(256) for _ in range(colours)) if kind == PALETTE else b"".join(
            struct.pack(">H", sample) for sample in rows[0][0])
        file += chunk(b"tRNS", values)
    return file + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND")


def pictures():
    for kind, depths in DEPTHS.items():
        for depth in depths:
            for interlaced in (False, True):
                name = f"{NAMES[kind]} of {depth} bits" + (", interlaced" if interlaced else "")
                yield name, png(kind, depth, interlaced)
                if kind in (GREY, RGB, PALETTE) and not interlaced:
                    yield name + ", a transparent colour", png(kind, depth, transparent="colour")
    yield "gamma of 1/2.2", png(RGB, 8, extra=chunk(b"gAMA", struct.pack(">I", 45455)))
    yield "a background colour", png(RGBA, 8, extra=chunk(b"bKGD", struct.pack(">HHH", 1, 2, 3)))
    yield "an unknown chunk", png(RGB, 8, extra=chunk(b"prVt", b"anything"))
    whole = png(RGB, 8)
    yield "a wrong checksum of a text", png(RGB, 8, extra=chunk(b"tEXt", b"a\0b")[:-1] + b"?")
    yield "cut in the pixels", whole[:-40]
    yield "without its last chunk", whole[:-12]
    yield "cut in the header", whole[:20]
    at = whole.index(b"IDAT") + 8
    yield "a damaged byte of the pixels", whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:]
    yield "fewer rows than the header says", png(RGB, 8, header_size=(WIDTH, HEIGHT + 1))
    yield "no pixels", png(RGB, 8, header_size=(0, HEIGHT))
    yield "a palette colour for each bit but no palette", png(PALETTE, 2).replace(b"PLTE", b"pLTE")
    yield "bytes behind the end", whole + b"anything"


def decoded(decode):
    try:
        pixels = decode().numpy()
    except tf.errors.InvalidArgumentError:
        return "error"
    return {"shape": list(pixels.shape), "bytes": pixels.tobytes().hex()}


def main():
    lines = []
    for name, file in pictures():
        answers = {"image": decoded(lambda: tf.io.decode_image(file, channels=3, expand_animations=False))}
        for channels in (0, 1, 3, 4):
            answers[str(channels)] = decoded(lambda: tf.io.decode_png(file, channels=channels))
        lines.append(json.dumps({"name": name, "png": file.hex(), **answers}))
    with open(sys.argv[1], "w") as out:
        out.write("[\n" + ",\n".join(lines) + "\n]\n")


main()
