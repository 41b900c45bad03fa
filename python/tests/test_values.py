"""Wrong values: every one is a ValueError that says what is wrong, where the command line would say it too."""

import collections
import unittest

import numpy

import common
import longtail


class Values(unittest.TestCase):
    def refused(self, words, call, *arguments, **named):
        with self.assertRaisesRegex(ValueError, words, msg=f"{arguments} {named}"):
            call(*arguments, **named)

    def test_a_part_of_a_strategy_that_never_comes_is_refused(self):
        def sampler(counts, strategy, epochs=200):
            return longtail.Sampler(counts=counts, strategy=strategy, epochs=epochs)

        calls = (sampler, lambda counts, strategy, epochs=200: longtail.probabilities(counts, strategy, 0, epochs),
                 lambda counts, strategy, epochs=200: longtail.theory(counts, strategy, 0, epochs))
        for call in calls:
            self.refused("`strategy` is `deferred`, which changes at epoch 160", call, [500, 300], "deferred", 90)
            self.refused("changes at epoch 200", call, [5, 3], "stratified:of=deferred(at=200)")
            self.refused("change at epoch 150 and next at epoch 100", call, [5, 3], "deferred:first=deferred(at=150),at=100")
            self.refused("change at epoch 100 and next at epoch 50", call, [5, 3],
                         "deferred:first=power,then=deferred(first=square_root,at=50),at=100")
            call([500, 300], "deferred:at=0.8", 90)

    def test_an_epoch_that_is_none_of_the_training_is_refused(self):
        for call in (longtail.probabilities, longtail.theory):
            for epoch, epochs in ((500, 200), (200, 200)):
                self.refused(f"no epoch {epoch} in a training of {epochs}", call, [5, 3], "uniform", epoch, epochs)
            self.refused("`epoch` is -1", call, [5, 3], "uniform", -1, 200)
            self.refused("`epochs` is 0", call, [5, 3], "uniform", 0, 0)
            call([500, 300], "uniform", 199, 200)

    def test_numbers_that_are_too_large_for_the_library_are_wrong_values_and_no_wrong_types(self):
        for name, values in (("seed", (-1, 2**64)), ("epochs", (0, 2**31)), ("batch_size", (-1, 2**31))):
            for value in values:
                self.refused(f"`{name}` is {value}; it must be from ", longtail.Sampler, [0, 1], **{name: value})
        for epoch in (-1, 2**31):
            self.refused(f"`epoch` is {epoch}; it must be from 0 to", longtail.Sampler([0, 1]).set_epoch, epoch)
        longtail.Sampler([0, 1], epochs=2**31 - 1, seed=2**64 - 1).set_epoch(2**31 - 1)
        for name, value in (("seed", 2**64), ("n_max", -5), ("n_max", 2**31), ("classes", 2**31)):
            self.refused(f"`{name}` is {value}", longtail.subset, [0, 1], **{name: value})
        self.refused("`batch_size` is 0", longtail.theory, [5, 3], "uniform", batch_size=0)
        self.refused("`seed` is 18446744073709551616", longtail.initial_weights, seed=2**64)
        with self.assertRaises(TypeError):
            longtail.Sampler([0, 1], epochs=2.5)
        with common.folder() as place:
            config = {"dataset": "toy", "strategy": "uniform", "epochs": 2}
            for seed in (2**63, -2**63 - 1, 2**64):
                self.refused(f"`seed` of the configuration is {seed}", longtail.RunLog, place, dict(config, seed=seed), [3, 2])
            longtail.RunLog(place, dict(config, seed=2**63 - 1), [3, 2])

    def test_a_profile_is_one_that_there_is(self):
        self.refused("did you mean `natural`", longtail.subset, [0, 0, 1], profile="Natural")
        self.refused("`rho` is `0.5`; it must be at least 1", longtail.subset, [0, 0, 1], rho=0.5)
        self.assertEqual(longtail.subset([0, 0, 1], profile="natural").counts.tolist(), [2, 1])

    def test_labels_of_a_subset_are_not_cut_to_32_bits(self):
        for label in (2**32, 2**32 + 1, 2**24 + 1, -1):
            self.refused(f"image 2 has the label {label}", longtail.subset, numpy.array([0, 1, label]))
        self.refused("labels must be in 0 ... 1", longtail.subset, [0, 1, 2], classes=2)
        self.assertEqual(longtail.subset(numpy.array([0, 1], numpy.uint8), classes=2).counts.tolist(), [1, 1])

    def test_a_class_without_images_is_in_no_group(self):
        self.assertEqual(longtail.groups([500, 0, 50, 5]), ["head", None, "medium", "tail"])
        self.assertEqual(longtail.groups([9, 0, 5, 1], "auto"), ["head", None, "medium", "tail"])
        for definition in ("paper", "auto"):
            self.refused("class 1 has -3 images", longtail.groups, [5, -3], definition)

    def test_indices_go_into_an_array_of_one_dimension(self):
        sampler = longtail.Sampler(counts=[5, 5])
        for shape in ((2, 5), (10, 1), ()):
            self.refused("must have one dimension", sampler.indices, out=numpy.empty(shape, numpy.int64))
        out = numpy.empty(10, numpy.int64)
        self.assertEqual(sampler.indices(out=out).tolist(), list(sampler))

    def test_a_strategy_that_shapes_batches_has_a_whole_one_in_an_epoch(self):
        for strategy in ("stratified", "deferred:then=stratified"):
            self.refused("a batch of 11 is larger than an epoch of 10 draws", longtail.Sampler, counts=[7, 3], strategy=strategy,
                         batch_size=11)
            self.refused("larger than an epoch of 4 draws", longtail.Sampler, counts=[7, 3], strategy=strategy, batch_size=5,
                         num_samples=4)
            longtail.Sampler(counts=[7, 3], strategy=strategy, batch_size=10)
        longtail.Sampler(counts=[7, 3], strategy="square_root", batch_size=11)  # which does not look at it

    def test_incomplete_stratified_batches_do_not_favour_a_class(self):
        sampler, drawn = longtail.Sampler(counts=[30] * 3, strategy="stratified", epochs=3000, batch_size=60), numpy.zeros(3)
        for epoch in range(3000):
            sampler.set_epoch(epoch)
            drawn += numpy.bincount(sampler.indices(60) // 30, minlength=3)  # half a batch ends each epoch
        self.assertEqual(drawn.sum(), 90000)
        self.assertLess(abs(drawn - 30000).max(), 2000)  # 5 deviations; where batches begin at one place it is 14,000

    def test_the_names_of_a_report_are_any_mapping(self):
        with common.folder() as place:
            log = longtail.RunLog(place, {"dataset": "toy", "strategy": "uniform", "seed": 1, "epochs": 1}, [3, 2])
            log.epoch(1.0, 50.0, 0.1, test_loss=0.7, correct=[1, 1], images=[2, 2])
            log.finish()
            made = longtail.report(place, tables_only=True, names=collections.ChainMap({"Uniform": "As it comes"}))
        self.assertIn("As it comes", str(made["tables"]["overall"]["rows"]))


if __name__ == "__main__":
    unittest.main()
