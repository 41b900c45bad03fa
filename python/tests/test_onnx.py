"""`longtail export --format onnx` from the command line: onnxruntime gives the probabilities of `longtail predict`."""

import json
import shutil
import struct
import subprocess
import unittest
import zlib

import numpy

import common
import longtail

if shutil.which("node") is None:
    common.skip("node is not installed (scripts/setup --onnx)")

RUN = common.SOURCE / "tests" / "onnx_run.cjs"
NO_RUNTIME = 77
CLASSES = 4


def write_png(path, pixels):
    """pixels: (channels, side, side) of bytes."""
    channels, height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels.transpose(1, 2, 0))

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Export(unittest.TestCase):
    def trained(self, place, side, *words):
        common.make_pictures(place, CLASSES, 24, side=side)
        common.program("train", "--dataset", place, "--profile", "exp", "--rho", 3, "--epochs", 2, "--batch-size", 16, "--model",
                       "resnet20", "--out", place / "run", *words)
        return longtail.read_log(place / "run")

    def onnx_logits(self, place, images):
        images.astype("<f4").tofile(place / "in")
        done = subprocess.run(["node", RUN, place / "model.onnx", place / "in", place / "out", *map(str, images.shape[:3])],
                              capture_output=True, text=True)
        if done.returncode == NO_RUNTIME:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        return numpy.fromfile(place / "out", "<f4").reshape(len(images), CLASSES).astype(float)

    def compare(self, side, *words):
        with common.folder() as place:
            log = self.trained(place, side, *words)
            told = common.program("export", place / "run", "--format", "onnx", "--last", "--out", place / "model.onnx", check=False)
            if told.returncode != 0 and "libonnx" in told.stderr:
                self.skipTest(told.stderr.strip())
            self.assertEqual(told.returncode, 0, told.stderr)
            pixels = numpy.load(place / "test_images.npy")[::5]
            for i, picture in enumerate(pixels):
                write_png(place / f"{i}.png", picture)
            # onnxruntime computes in fp32, as simd does; where the CPU has tiles, the run's own engine is bf16.
            told = common.program("predict", place / "run", *[place / f"{i}.png" for i in range(len(pixels))], "--top", CLASSES,
                                  "--last", "--json", "--engine", "simd")
            ours = numpy.zeros((len(pixels), CLASSES))
            for row, picture in zip(ours, json.loads(told.stdout)):
                for entry in picture["classes"]:
                    row[log["class_names"].index(entry["class"])] = numpy.log(entry["probability"])
            mean, deviation = [numpy.array(log["image"][key]).reshape(1, -1, 1, 1) for key in ("mean", "deviation")]
            logits = self.onnx_logits(place, (pixels / 255 - mean) / deviation)
        # Probabilities leave a number open that is the same for all classes.
        logits -= numpy.log(numpy.exp(logits).sum(1, keepdims=True))
        self.assertGreater(numpy.abs(ours - ours.mean(1, keepdims=True)).max(), 0.01)
        numpy.testing.assert_allclose(logits, ours, rtol=0, atol=1e-4)

    def test_the_paper_s_shortcut(self):
        self.compare(32, "--shortcut", "projection")

    def test_the_other_shortcut(self):
        self.compare(32, "--shortcut", "pad")

    def test_another_width(self):
        self.compare(32, "--width", 2)

    def test_another_image_size(self):
        self.compare(48, "--image-size", 48)


if __name__ == "__main__":
    unittest.main()
