#!/usr/bin/env python3
"""NumPy's side of npy_test.cpp.

Usage: numpy_files.py write FOLDER    the files of tests/arrays/files, by NumPy 2
       numpy_files.py check FOLDER    the files that the test has written, read by NumPy
Status 77: there is no NumPy.
"""
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

MATRIX = np.array([[0.5, -1.5, 3.0], [4.25, 1e-3, -7.0]])
CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


def write(folder):
    for name, array in {
        "float32": MATRIX.astype(np.float32),
        "float64": MATRIX,
        "float16": MATRIX.astype(np.float16),
        "big_endian": MATRIX.astype(">f4"),
        "big_endian_float64": MATRIX.astype(">f8"),
        "fortran": np.asfortranarray(MATRIX.astype(np.float32)),
        "fortran_cube": np.asfortranarray(CUBE),
        "int32": CUBE,
        "int64": np.array([1, -2, 2**40]),
        "uint8": np.array([0, 7, 255], np.uint8),
        "bool": np.array([True, False, True]),
        "scalar": np.array(2.5, np.float32),
        "empty": np.zeros((0, 3), np.float32),
        "int16": np.array([1], np.int16),
        "complex64": np.array([1j], np.complex64),
        "text": np.array(["ab"]),
        "records": np.array([(1, 2.0)], [("a", "i4"), ("b", "f4")]),
        "nine_axes": np.zeros((1,) * 9, np.float32),
    }.items():
        np.save(folder / f"{name}.npy", array)
    for version in ((2, 0), (3, 0)):
        with open(folder / f"version_{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, CUBE, version)
    arrays = {"kernel": MATRIX.astype(np.float32), "layer/bias": np.array([1, 2], np.int64)}
    np.savez(folder / "plain.npz", **arrays)
    np.savez_compressed(folder / "compressed.npz", **arrays)
    np.savez(folder / "float64.npz", kernel=MATRIX)


def check(folder):
    wanted = {"float32": MATRIX.astype(np.float32), "float16": MATRIX.astype(np.float16),
              "int32": CUBE, "int64": np.array([1, -2, 2**40]),
              "uint8": np.array([0, 7, 255], np.uint8), "bool": np.array([True, False, True]),
              "scalar": np.array(2.5, np.float32), "empty": np.zeros((0, 3), np.float32)}
    for name, array in wanted.items():
        same(np.load(folder / f"{name}.npy"), array, name)
    with np.load(folder / "all.npz") as archive:
        assert sorted(archive.files) == sorted(wanted), archive.files
        for name, array in wanted.items():
            same(archive[name], array, name)


def same(got, wanted, name):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (name, got.dtype, got.shape)
    assert (got == wanted).all(), (name, got)


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
