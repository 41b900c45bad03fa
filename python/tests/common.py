"""What the tests of the Python package share. LONGTAIL_PROGRAM is the program built beside it."""

import contextlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("LONGTAIL_PROGRAM", str(SOURCE / "build" / "longtail"))
COUNTS = [500, 237, 112, 53, 25, 12, 5]
STRATEGIES = ["uniform", "class_balanced", "square_root", "progressive:gamma=2"]


def skip(reason):
    """Tells ctest that the whole file is skipped."""
    print("skipped:", reason)
    sys.exit(77)


def need_torch():
    if importlib.util.find_spec("torch") is None:
        skip("PyTorch is not installed (scripts/setup --peers)")


def program(*arguments, check=True, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=check, capture_output=True, text=True, **options)


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory() as place:
        yield pathlib.Path(place)


def make_pictures(place, classes=4, images=40, seed=0, side=32):
    """Pictures that can be learnt: a class has a brightness of its own, under noise."""
    random = numpy.random.RandomState(seed)
    for split, count in (("train", images), ("test", 10)):
        labels = numpy.repeat(numpy.arange(classes), count).astype("int64")
        noise = random.randint(0, 120, (len(labels), 3, side, side))
        pixels = numpy.clip(noise + (labels * 40)[:, None, None, None], 0, 255).astype("uint8")
        numpy.save(place / f"{split}_images.npy", pixels)
        numpy.save(place / f"{split}_labels.npy", labels)
    return place
