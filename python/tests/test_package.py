"""The functions of the package without torch, against NumPy and the program, and the examples in the docstrings."""

import ast
import doctest
import hashlib
import json
import unittest

import numpy

import common
import longtail
import longtail.functions
import longtail.sampler


class Functions(unittest.TestCase):
    def test_the_stub_parses_and_declares_what_the_package_exports(self):
        path = common.SOURCE / "python" / "longtail" / "__init__.pyi"
        declared = set()
        for node in ast.parse(path.read_text(), str(path)).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                declared.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                declared.add(node.target.id)
            if isinstance(node, ast.ClassDef):
                for member in node.body:
                    if isinstance(member, ast.FunctionDef):
                        self.assertTrue(hasattr(getattr(longtail, node.name), member.name), f"{node.name}.{member.name}")
        self.assertEqual(declared, set(longtail.__all__))

    def test_a_hash_is_of_the_numbers_however_they_lie_in_memory(self):
        numbers = numpy.arange(60, dtype=numpy.float32).reshape(6, 10)
        for view in (numbers[::2], numbers[::-1], numbers[:, ::3], numbers.T, numpy.broadcast_to(numbers[0], (4, 10)),
                     numbers[:0], numbers[1:2, 2]):
            self.assertEqual(longtail.sha256(view), hashlib.sha256(view.tobytes()).hexdigest())
            self.assertEqual(longtail.sha256(view), longtail.sha256(view.copy()))
        for data in (b"", b"long\0tail\0"):
            for kind in (bytes, bytearray, memoryview):
                self.assertEqual(longtail.sha256(kind(data)), hashlib.sha256(data).hexdigest())
        self.assertEqual(longtail.sha256(memoryview(b"abcd")[::2]), hashlib.sha256(b"ac").hexdigest())

    def test_strategies_that_shape_batches_have_probabilities_and_a_theory(self):
        counts = [60, 30, 10]
        self.assertEqual(longtail.probabilities(counts, "stratified").tolist(),
                         longtail.probabilities(counts, "uniform").tolist())
        told = longtail.theory(counts, "stratified", batch_size=10)
        for entry, expected in zip(told["classes"], (6, 3, 1)):
            self.assertAlmostEqual(entry["expected"], expected)
            self.assertAlmostEqual(entry["absence"], 0)  # every batch has its share
        with common.folder() as place:  # a batch whose shares are no whole numbers, against the program
            (place / "counts.txt").write_text("60\n30\n10\n")
            shown = common.program("theory", "--counts", place / "counts.txt", "--strategies", "stratified", "--batch-size", 8,
                                   "--epochs", 2, "--json").stdout
        columns = json.loads(shown)["forecasts"][0]["classes"]
        classes = longtail.theory(counts, "stratified", 0, 2, batch_size=8)["classes"]
        for key, column in (("absence", "chance_of_absence"), ("exact_ratio", "exact_ratio"), ("weight", "weight")):
            numpy.testing.assert_allclose([entry[key] for entry in classes], columns[column], rtol=1e-12, atol=1e-12)

    def test_the_subset_is_the_one_that_numpy_chooses(self):
        labels = numpy.repeat(numpy.arange(10), 50)
        made = longtail.subset(labels, 10, 7)
        self.assertEqual((made.counts[0], made.counts[-1], len(made)), (50, 5, made.counts.sum()))
        # NumPy's own shuffle, carried through the classes, is the outside reference.
        shuffle, expected = numpy.random.RandomState(7), []
        for k, count in enumerate(made.counts):
            images = numpy.flatnonzero(labels == k)
            shuffle.shuffle(images)
            expected += images[:count].tolist()
        self.assertEqual(made.indices.tolist(), expected)

    def test_initial_weights_are_those_that_the_program_writes(self):
        with common.folder() as place:
            for shortcut, width in (("projection", 1), ("pad", 2)):
                common.program("init", "--model", "resnet20", "--classes", 7, "--seed", 5, "--shortcut", shortcut, "--width",
                               width, "--out", place / "weights")
                made = longtail.initial_weights("resnet20", 7, 5, shortcut=shortcut, width=width)
                self.assertEqual((place / "weights").read_bytes(), made.tobytes())
        with self.assertRaisesRegex(ValueError, "did you mean `resnet32`"):
            longtail.initial_weights("resnet31")

    def test_every_strategy_is_listed_and_can_be_made(self):
        for info in longtail.strategies():
            self.assertTrue(info["help"])
            self.assertEqual(longtail.canonical_strategy(info["name"]), info["name"])


def load_tests(loader, tests, pattern):
    for module in (longtail, longtail.functions, longtail.sampler):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


if __name__ == "__main__":
    unittest.main()
