"""The package without torch: samplers against the program, logs, reports, errors, and the examples in the docstrings."""

import ast
import copy
import doctest
import hashlib
import json
import multiprocessing
import pickle
import random
import types
import unittest

import numpy

import common
import longtail
import longtail.functions
import longtail.sampler


def place_of(state):
    return state["epoch"], state["position"]


class Samplers(unittest.TestCase):
    def test_indices_are_those_that_the_program_prints(self):
        with common.folder() as place:
            (place / "counts.txt").write_text("\n".join(map(str, common.COUNTS)))
            for strategy in common.STRATEGIES:
                told = common.program("sample", "--counts", place / "counts.txt", "--strategy", strategy, "--epoch", 3,
                                      "--epochs", 9, "--seed", 11, "--indices", 700)
                sampler = longtail.Sampler(counts=common.COUNTS, strategy=strategy, epochs=9, seed=11)
                sampler.set_epoch(3)
                self.assertEqual(list(sampler)[:700], list(map(int, told.stdout.split())), strategy)

    def test_labels_in_any_order_give_images_of_the_classes_that_were_drawn(self):
        labels = numpy.repeat(numpy.arange(7), common.COUNTS)
        by_class = longtail.Sampler(counts=common.COUNTS, strategy="square_root", seed=5)
        shuffled = numpy.random.RandomState(1).permutation(labels)
        mixed = longtail.Sampler(shuffled, strategy="square_root", seed=5)
        drawn = numpy.array(list(mixed))
        self.assertEqual(shuffled[drawn].tolist(), labels[list(by_class)].tolist())
        self.assertEqual(sorted(longtail.Sampler(shuffled, seed=5)), list(range(len(labels))))

    def test_draws_follow_the_declared_probabilities(self):
        edges = numpy.cumsum(common.COUNTS)
        for strategy in common.STRATEGIES[1:]:
            sampler = longtail.Sampler(counts=common.COUNTS, strategy=strategy, epochs=5, num_samples=200000)
            sampler.set_epoch(2)
            observed = numpy.bincount(numpy.searchsorted(edges, sampler.indices(), side="right"), minlength=7)
            expected = longtail.probabilities(common.COUNTS, strategy, 2, 5) * 200000
            chi_square = ((observed - expected) ** 2 / expected).sum()
            self.assertLess(chi_square, 27.9, strategy)  # p = 0.0001 at 6 degrees of freedom

    def test_a_state_at_any_of_50_positions_gives_the_rest_of_the_epoch(self):
        pick = random.Random(3)
        for strategy in ("uniform", "progressive"):
            whole = longtail.Sampler(counts=[70000, 900, 30], strategy=strategy, epochs=4, seed=8)
            whole.set_epoch(1)
            draws = list(whole)
            for position in [0, 65535, 65536, 65537, len(draws)] + [pick.randrange(len(draws)) for _ in range(45)]:
                before = longtail.Sampler(counts=[70000, 900, 30], strategy=strategy, epochs=4, seed=8)
                before.set_epoch(1)
                walk = iter(before)
                for _ in range(position):
                    next(walk)
                after = longtail.Sampler(counts=[70000, 900, 30], strategy=strategy, epochs=4, seed=8)
                after.load_state_dict(before.state_dict())
                if position < len(draws):
                    after.set_epoch(1)  # as training loops do; keeps the position
                    self.assertEqual(list(after), draws[position:])
                self.assertEqual(after.epoch, 2)

    def test_ranks_partition_the_same_stream_whatever_their_number(self):
        for strategy in common.STRATEGIES:
            whole = list(longtail.Sampler(counts=common.COUNTS, strategy=strategy))
            for world in (1, 2, 3, 8):
                parts = [longtail.Sampler(counts=common.COUNTS, strategy=strategy, num_replicas=world, rank=rank)
                         for rank in range(world)]
                lists = [list(part) for part in parts]
                self.assertEqual([len(part) for part in parts], list(map(len, lists)))
                self.assertEqual([lists[i % world][i // world] for i in range(len(whole))], whole)

    def test_a_state_of_two_ranks_continues_on_three(self):
        whole = list(longtail.Sampler(counts=common.COUNTS))
        two = longtail.Sampler(counts=common.COUNTS, num_replicas=2, rank=1)
        walk = iter(two)
        for _ in range(101):
            next(walk)
        rest = []
        for rank in range(3):
            part = longtail.Sampler(counts=common.COUNTS, num_replicas=3, rank=rank)
            part.load_state_dict(two.state_dict())
            rest.append(list(part))
        self.assertEqual(sorted(sum(rest, [])), sorted(whole[202:]))

    def test_epochs_advance_alone_also_after_a_walk_that_was_left(self):
        sampler = longtail.Sampler(counts=common.COUNTS, strategy="class_balanced")
        epochs = []
        for epoch in range(3):
            sampler.set_epoch(epoch)
            epochs.append(list(sampler))
        self.assertNotEqual(epochs[0], epochs[1])
        alone = longtail.Sampler(counts=common.COUNTS, strategy="class_balanced")
        self.assertEqual(list(alone), epochs[0])
        iter(alone)  # never drawn from: begins nothing
        next(iter(alone))  # begins epoch 1 and leaves it
        self.assertEqual(list(alone), epochs[2])

    def test_batches_are_the_stream_cut_and_their_state_is_at_a_batch(self):
        draws = list(longtail.Sampler(counts=common.COUNTS))
        batches = longtail.BatchSampler(longtail.Sampler(counts=common.COUNTS), 64)
        self.assertEqual(list(batches), [draws[i:i + 64] for i in range(0, len(draws), 64)])
        dropped = longtail.BatchSampler(longtail.Sampler(counts=common.COUNTS), 64, drop_last=True)
        self.assertEqual(list(dropped), [draws[i:i + 64] for i in range(0, len(draws) - 63, 64)])
        for taken in (1, 7, len(dropped)):
            first = longtail.BatchSampler(longtail.Sampler(counts=common.COUNTS), 64, drop_last=True)
            walk = iter(first)
            for _ in range(taken):
                next(walk)
            again = longtail.BatchSampler(longtail.Sampler(counts=common.COUNTS), 64, drop_last=True)
            again.load_state_dict(first.state_dict())
            self.assertEqual(again.state_dict(), first.state_dict(consumed=taken))
            if taken < len(dropped):
                self.assertEqual([b for b in again], [draws[i:i + 64] for i in range(64 * taken, len(draws) - 63, 64)])
            self.assertEqual(again.epoch, 1)

    def test_every_rank_has_as_many_whole_batches(self):
        for world in (2, 3, 8):
            numbers = set()
            for rank in range(world):
                sampler = longtail.Sampler(counts=common.COUNTS, num_replicas=world, rank=rank)
                numbers.add(len(list(longtail.BatchSampler(sampler, 7, drop_last=True))))
            self.assertEqual(numbers, {sum(common.COUNTS) // world // 7})

    def test_what_training_consumed_is_of_the_epoch_that_was_read_to_its_end(self):
        sampler = longtail.Sampler(counts=[5, 5])
        list(sampler)
        for consumed, place in ((0, (1, 0)), (8, (0, 8)), (9, (0, 9)), (10, (1, 0)), (None, (1, 0))):
            self.assertEqual(place_of(sampler.state_dict(consumed)), place)
        for drop_last in (False, True):
            batches = longtail.BatchSampler(longtail.Sampler(counts=common.COUNTS), 64, drop_last)
            last = len(list(batches)) - 1
            for consumed, place in ((last, (0, 64 * last)), (last + 1, (1, 0)), (None, (1, 0))):
                self.assertEqual(place_of(batches.state_dict(consumed)), place)
        sampler.set_epoch(1)
        self.assertEqual(place_of(sampler.state_dict(consumed=3)), (1, 3))
        list(sampler)
        next(iter(sampler))
        self.assertEqual(place_of(sampler.state_dict(consumed=1)), (2, 1))
        sampler.load_state_dict(dict(sampler.state_dict(), epoch=7, position=0))
        self.assertEqual(place_of(sampler.state_dict(consumed=4)), (7, 4))

    def test_ranks_that_resume_a_state_of_more_ranks_have_as_many_batches(self):
        def batches(rank, world, state=None):
            made = longtail.BatchSampler(longtail.Sampler(counts=[10000, 880], num_replicas=world, rank=rank), 64, drop_last=True)
            if state is not None:
                made.load_state_dict(state)
            return made

        whole = list(longtail.Sampler(counts=[10000, 880]))
        eight = batches(5, 8)
        next(iter(eight))
        state = eight.state_dict()
        self.assertEqual(place_of(state), (0, 512))
        drawn = []
        for rank in range(6):
            six = batches(rank, 6, state)
            walk = iter(six)
            mine = [next(walk) for _ in range(5)]
            self.assertEqual(place_of(six.state_dict()), (0, 512 + 5 * 384))
            self.assertEqual(six.state_dict(consumed=2 + 5), six.state_dict())  # 512 draws begin two batches of six ranks
            mine += [next(walk) for _ in range(21)]
            self.assertEqual(place_of(six.state_dict()), (1, 0))
            self.assertEqual(list(walk), [])
            drawn += sum(mine, [])
        self.assertEqual(len(set(drawn)), 6 * 26 * 64)
        self.assertEqual(set(drawn), set(whole[512:512 + 26 * 384]))
        middle = dict(state, position=512 + 5 * 384)
        rest = [image for rank in range(4) for batch in batches(rank, 4, middle) for image in batch]
        self.assertEqual(sorted(rest), sorted(whole[512 + 5 * 384:]))

    def test_even_ranks_that_resume_a_state_of_others_have_as_many_draws(self):
        whole = list(longtail.Sampler(counts=common.COUNTS))
        state = dict(longtail.Sampler(counts=common.COUNTS).state_dict(), position=202)
        for world in (3, 4, 7):
            drawn = []
            for rank in range(world):
                part = longtail.Sampler(counts=common.COUNTS, num_replicas=world, rank=rank, even=True)
                part.load_state_dict(state)
                drawn.append(list(part))
            self.assertEqual(len(set(map(len, drawn))), 1, world)
            self.assertEqual(sorted(sum(drawn, [])), sorted(whole[202:202 + world * len(drawn[0])]))

    def test_a_pickled_and_a_copied_sampler_continue_where_the_original_is(self):
        labels = numpy.random.RandomState(1).permutation(numpy.repeat(numpy.arange(7), common.COUNTS))
        for copied in (lambda sampler: pickle.loads(pickle.dumps(sampler)), copy.deepcopy):
            for arguments in ({"labels": labels}, {"counts": common.COUNTS, "strategy": "progressive:gamma=0.3"},
                              {"labels": labels, "strategy": "stratified", "batch_size": 32, "num_replicas": 3, "rank": 1,
                               "even": True}):
                original = longtail.Sampler(epochs=4, seed=2**60 + 1, **arguments)
                original.set_epoch(2)
                walk = iter(original)
                for taken in (0, 1, 100):
                    for _ in range(taken):
                        next(walk)
                    other = copied(original)
                    self.assertEqual(other.state_dict(), original.state_dict())
                    self.assertEqual(other.state_dict(consumed=1), original.state_dict(consumed=1))
                    rest = list(copied(original))
                    self.assertEqual(list(other), rest)
                    self.assertEqual((other.epoch, original.epoch), (3, 2))  # the walk of the original is left as it was
                self.assertEqual(list(walk), rest)
                self.assertEqual(copied(original).state_dict(consumed=5), original.state_dict(consumed=5))  # of epoch 2
                self.assertEqual(list(copied(original)), list(original))

    def test_a_copy_of_a_batch_sampler_continues_at_the_batch(self):
        for copied in (lambda batches: pickle.loads(pickle.dumps(batches)), copy.deepcopy):
            original = longtail.BatchSampler(longtail.Sampler(counts=common.COUNTS), 64, drop_last=True)
            walk = iter(original)
            for _ in range(3):
                next(walk)
            other = copied(original)
            self.assertEqual(other.state_dict(), original.state_dict())
            self.assertEqual(list(other), list(walk))
            self.assertEqual(list(other), list(original))

    def test_a_copy_has_the_feedback_and_gives_none_back(self):
        original = longtail.Sampler(counts=[500, 100, 20], strategy="focus", epochs=4, seed=2)
        list(original)
        original.update([90, 50, float("nan")])
        other = pickle.loads(pickle.dumps(original))
        self.assertEqual(other.probabilities.tolist(), original.probabilities.tolist())
        self.assertEqual(list(other), list(original))
        other.update([0, 100, 100])
        self.assertEqual([len(sampler.state_dict()["class_accuracy"]) for sampler in (original, other)], [1, 2])

    def test_a_process_that_is_spawned_gets_the_sampler_where_it_is(self):
        original = longtail.Sampler(counts=common.COUNTS, strategy="square_root", seed=4)
        walk = iter(original)
        next(walk)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            drawn = pool.apply(list, (original,))
        self.assertEqual(drawn, list(walk))

    def test_a_billion_images_need_no_memory(self):
        import resource
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sampler = longtail.Sampler(counts=[10**9 // 1000] * 1000, strategy="uniform")
        walk = iter(sampler)
        self.assertEqual(len({next(walk) for _ in range(10**5)}), 10**5)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 50 * 1024)  # KB

    def test_feedback_changes_the_epochs_after_it_and_stays_in_the_state(self):
        counts = [500, 100, 20]
        sampler = longtail.Sampler(counts=counts, strategy="focus:floor=0.1", epochs=4, seed=2)
        numpy.testing.assert_allclose(sampler.probabilities, numpy.array(counts) / 620)
        list(sampler)
        with self.assertRaisesRegex(ValueError, "epoch 1 needs the accuracy of each of the 3 classes"):
            sampler.indices()
        sampler.update([90, 50, float("nan")])  # the third class was not measured: nothing is known to be right
        numpy.testing.assert_allclose(sampler.probabilities, numpy.array([0.2, 0.6, 1.1]) / 1.9)
        drawn = sampler.indices()
        observed = numpy.bincount(numpy.searchsorted([500, 600, 620], drawn, side="right"), minlength=3)
        expected = sampler.probabilities * 620
        self.assertLess(((observed - expected) ** 2 / expected).sum(), 18.4)  # p = 0.0001 at 2 degrees of freedom
        later = longtail.Sampler(counts=counts, strategy="focus:floor=0.1", epochs=4, seed=2)
        later.load_state_dict(sampler.state_dict())
        self.assertEqual(list(later), drawn.tolist())
        later.update([0, 100, 100])
        self.assertEqual(numpy.argmax(later.probabilities), 0)
        for strategy, feedback in (("uniform", None), ("focus", "draws"), ("deferred:then=adaptive", "held_out")):
            self.assertEqual(longtail.Sampler(counts=counts, strategy=strategy).feedback, feedback)
        for strategy, accuracy, words in (("uniform", [1, 2, 3], "takes no feedback"), ("focus", [1, 2], "2 accuracies for 3"),
                                          ("focus", [1, 2, 101], "from 0 to 100")):
            with self.assertRaisesRegex(ValueError, words):
                longtail.Sampler(counts=counts, strategy=strategy).update(accuracy)

    def test_feedback_gives_the_probabilities_that_the_program_trained_with(self):
        with common.folder() as place:
            common.make_pictures(place)
            common.program("train", "--dataset", place, "--profile", "exp", "--rho", 4, "--seed", 3, "--epochs", 3,
                           "--batch-size", 16, "--model", "resnet20", "--strategy", "focus", "--out", place / "run")
            told = longtail.read_log(place / "run")
        sampler = longtail.Sampler(counts=told["class_counts"], strategy="focus", epochs=3, seed=3)
        for epoch, accuracy in enumerate(told["class_accuracy"]):
            sampler.set_epoch(epoch)
            numbers = [float("nan") if a is None else a for a in accuracy]
            sampler.update(numbers)
            self.assertEqual([a for a in sampler.state_dict()["class_accuracy"][epoch] if a == a],
                             [a for a in numbers if a == a])
        sampler.set_epoch(2)
        wrong = 1.05 - numpy.array(told["class_accuracy"][1], float) / 100
        numpy.testing.assert_allclose(sampler.probabilities, wrong / wrong.sum())

    def test_a_strategy_that_shapes_batches_is_told_their_size(self):
        sampler = longtail.Sampler(counts=[60, 30, 10], strategy="stratified", batch_size=10)
        for batch in longtail.BatchSampler(sampler, 10):
            classes = numpy.bincount(numpy.searchsorted([60, 90, 100], batch, side="right"), minlength=3)
            self.assertEqual(classes.tolist(), [6, 3, 1])
        for strategy in ("stratified", "deferred:then=stratified(of=class_balanced),at=160",
                         "deferred:then=deferred(then=stratified,at=199),at=10"):
            with self.assertRaisesRegex(ValueError, "give `batch_size`"):
                longtail.Sampler(counts=[60, 30, 10], strategy=strategy)
        longtail.Sampler(counts=[60, 30, 10], strategy="deferred:first=square_root,then=power,at=160")  # none is ever shaped

    def test_mistakes_are_sentences(self):
        for make, words in (
                (lambda: longtail.Sampler(counts=[1], strategy="unifrom"), "did you mean `uniform`"),
                (lambda: longtail.Sampler(), "give either `labels`"),
                (lambda: longtail.Sampler([0, -1]), "image 1 has the label -1"),
                (lambda: longtail.Sampler(counts=[3], num_samples=4), "at most 3 draws"),
                (lambda: longtail.Sampler(counts=[3], strategy="deferred:first=class_balanced,then=uniform,at=9",
                                          num_samples=4), "at most 3 draws"),
                (lambda: longtail.Sampler(counts=[3], num_replicas=2, rank=2), "from 0 to 1"),
                (lambda: longtail.Sampler(counts=[3]).load_state_dict(
                    longtail.Sampler(counts=[3], seed=1).state_dict()), "`seed` 1")):
            with self.assertRaisesRegex(ValueError, words):
                make()
        with self.assertRaises(TypeError):
            longtail.Sampler([0.5])

    def test_labels_and_counts_have_one_dimension(self):
        for make in (longtail.Sampler, longtail.subset, longtail.groups, lambda counts: longtail.Sampler(counts=counts)):
            with self.assertRaisesRegex(ValueError, r"a list of whole numbers is needed, not an array of the shape \(2, 2\)"):
                make([[0, 1], [1, 0]])
        with self.assertRaisesRegex(ValueError, r"of the shape \(\)"):
            longtail.groups(numpy.int64(5))


class Logs(unittest.TestCase):
    config = {"dataset": "toy", "strategy": "uniform", "seed": 1, "epochs": 2, "lr": 0.1}

    def test_a_log_from_logits_has_everything_and_reads_back(self):
        with common.folder() as place:
            log = longtail.RunLog(place / "run", self.config, [200, 50, 10], class_names=["a", "b", "c"])
            labels = numpy.array([0, 0, 1, 1, 2, 2])
            logits = numpy.eye(3)[[0, 1, 1, 1, 2, 0]] * 4
            log.epoch(1.5, 40.0, 0.1, logits=logits, labels=labels)
            log.epoch(1.2, 50.0, 0.1, logits=numpy.eye(3)[labels], labels=labels)
            self.assertFalse(longtail.read_log(place / "run")["finished"])
            log.finish()
            read = longtail.read_log(place / "run" / "log.json")
            self.assertEqual(read["test_acc"], [400 / 6, 100.0])
            self.assertEqual((read["best_epoch"], read["best"]["per_class_acc"]), (1, [100.0] * 3))
            self.assertEqual(read["head_acc"][0], 50.0)
            self.assertGreater(read["last"]["ece"], 0)
            self.assertTrue(read["finished"])

    def test_a_confusion_matrix_or_counts_give_the_same_accuracies(self):
        with common.folder() as place:
            kinds = ({"confusion": [[8, 1, 1], [2, 3, 0], [0, 1, 0]]}, {"correct": [8, 3, 0], "images": [10, 5, 1]})
            results = []
            for i, kind in enumerate(kinds):
                log = longtail.RunLog(place / str(i), dict(self.config, epochs=1), [200, 50, 10])
                log.epoch(1.0, 50.0, 0.1, test_loss=0.7, **kind)
                log.finish()
                results.append(longtail.read_log(place / str(i))["best"])
            for key in ("overall_acc", "head_acc", "medium_acc", "tail_acc", "balanced_acc", "loss", "per_class_acc"):
                self.assertEqual(results[0][key], results[1][key], key)
            self.assertEqual((results[1]["macro_f1"], results[1]["confusion"]), (None, []))

    def test_a_log_holds_the_feedback_of_every_epoch_or_of_none(self):
        counts = {"test_loss": 0.7, "correct": [1, 1], "images": [2, 2]}
        with common.folder() as place:
            log = longtail.RunLog(place, self.config, [3, 2])
            log.epoch(1.0, 50.0, 0.1, class_accuracy=[50.004, float("nan")], **counts)
            with self.assertRaisesRegex(ValueError, "after every epoch or after none"):
                log.epoch(1.0, 50.0, 0.1, **counts)
            with self.assertRaisesRegex(ValueError, "3 accuracies for 2 classes"):
                log.epoch(1.0, 50.0, 0.1, class_accuracy=[1, 2, 3], **counts)
            log.epoch(0.9, 50.0, 0.1, class_accuracy=[60, 10], **counts)
            log.finish()
            self.assertEqual(longtail.read_log(place)["class_accuracy"], [[50.0, None], [60, 10]])

    def test_the_best_epoch_is_chosen_by_what_the_configuration_selects(self):
        with common.folder() as place:
            for select, best, said in (("overall", 0, None), ("balanced", 1, "balanced"), ("tail", 1, "tail"), ("last", 1, "last")):
                study = {"config": dict(self.config, select=select), "params": {}, "hash": "abc"}
                log = longtail.RunLog(place / select, study, [200, 50, 10])
                for right in ([900, 20, 10], [700, 65, 60]):
                    log.epoch(1.0, 50.0, 0.1, test_loss=0.7, correct=right, images=[1000, 100, 100])
                log.finish()
                read = longtail.read_log(place / select)
                self.assertEqual((log.best_epoch, read["best_epoch"], read.get("selected_by")), (best, best, said))
                self.assertEqual(read["balanced_acc"], [40.0, 65.0])

    def test_classes_without_training_images_are_not_tested(self):
        labels = numpy.array([0, 0, 1, 1, 2, 2])
        kinds = ({"logits": numpy.eye(3)[[0, 0, 1, 0, 0, 1]], "labels": labels},
                 {"test_loss": 0.7, "confusion": [[2, 0, 0], [1, 1, 0], [1, 1, 0]]},
                 {"test_loss": 0.7, "correct": [2, 1, 0], "images": [2, 2, 2]})
        with common.folder() as place:
            for i, kind in enumerate(kinds):
                log = longtail.RunLog(place / str(i), self.config, [500, 50, 0])
                log.epoch(1.0, 50.0, 0.1, **kind)
                read = longtail.read_log(place / str(i))
                self.assertEqual((read["test_acc"], read["tail_acc"], read["group_sizes"]), ([75.0], [None], [1, 1, 0]))
                self.assertEqual((read["best"]["per_class_acc"], read["best"]["balanced_acc"]), ([100.0, 50.0, None], 75.0))
            with self.assertRaisesRegex(ValueError, "no test image belongs to a class that has training images"):
                log.epoch(1.0, 50.0, 0.1, test_loss=0.7, correct=[0, 0, 2], images=[0, 0, 2])

    def test_what_no_reader_would_take_is_refused_before_the_first_epoch(self):
        with common.folder() as place:
            for change, words in (({"dataset": "a\nb"}, "dataset` has a control character"), ({"a\nb": 1}, "key of `config`"),
                                  ({"note": "\x1b"}, "`config.note`"), ({"rho": 0.5}, "`rho` is 0.5"),
                                  ({"select": "best"}, "`select` is `best`")):
                with self.assertRaisesRegex(ValueError, words):
                    longtail.RunLog(place, dict(self.config, **change), [3, 2])
            with self.assertRaisesRegex(ValueError, "`class_names` has a control character"):
                longtail.RunLog(place, self.config, [3, 2], class_names=["a", "b\n"])

    def test_a_configuration_and_a_state_are_any_mappings(self):
        with common.folder() as place:
            log = longtail.RunLog(place, types.MappingProxyType(self.config), [3, 2])
            log.epoch(1.0, 50.0, 0.1, test_loss=0.7, correct=[1, 1], images=[2, 2])
            again = longtail.RunLog(place, self.config, [3, 2])
            again.load_state_dict(types.MappingProxyType(log.state_dict()))
            self.assertEqual(again.state_dict(), log.state_dict())
            with self.assertRaisesRegex(TypeError, "`config` must be a dictionary or another mapping"):
                longtail.RunLog(place, "uniform", [3, 2])

    def test_a_configuration_may_hold_the_numbers_and_arrays_of_numpy(self):
        plain = {"lr": 0.5, "momentum": 0.25, "seed": 1, "epochs": 3, "nesterov": True, "milestones": [1, 2], "clip": 5}
        arrays = {"lr": numpy.float32(0.5), "momentum": numpy.float64(0.25), "seed": numpy.int64(1), "epochs": numpy.uint8(3),
                  "nesterov": numpy.bool_(True), "milestones": numpy.array([1, 2]), "clip": numpy.array(5)}
        with common.folder() as place:
            states = []
            for values in (plain, arrays):
                log = longtail.RunLog(place, dict(self.config, **values), numpy.array([3, 2]))
                log.epoch(1.0, 50.0, 0.1, test_loss=0.7, correct=[1, 1], images=[2, 2])
                states.append(log.state_dict())
            self.assertEqual(states[0], states[1])
            read = longtail.read_log(place)["config"]
            self.assertEqual([read[key] for key in ("lr", "nesterov", "milestones", "clip")], [0.5, True, [1, 2], 5])
            for wrong, name in ((numpy.longdouble(1), "longdouble|float128"), (numpy.float32, "type"), ({}, "dict")):
                with self.assertRaisesRegex(ValueError, f"`lr` of the configuration is a ({name})"):
                    longtail.RunLog(place, dict(self.config, lr=wrong), [3, 2])

    def test_counts_may_be_whole_numbers_of_any_type(self):
        with common.folder() as place:
            log = longtail.RunLog(place, self.config, [3, 2])
            for kind in ({"correct": numpy.zeros(2), "images": numpy.ones(2, numpy.int64)}, {"confusion": numpy.eye(2)}):
                log.epoch(1.0, 50.0, 0.1, test_loss=0.7, **kind)
            self.assertEqual(longtail.read_log(place)["test_acc"], [0.0, 100.0])
            for kind, words in (({"correct": [0.5, 1], "images": [1, 1]}, "`correct` has 0.5; it must be whole numbers"),
                                ({"confusion": [[1, float("nan")], [1, 1]]}, "`confusion` has nan"),
                                ({"correct": ["a", "b"], "images": [1, 1]}, "`correct` is no list of whole numbers"),
                                ({"logits": numpy.eye(2), "labels": [0, 0.5]}, "`labels` has 0.5")):
                with self.assertRaisesRegex(ValueError, words):
                    log.epoch(1.0, 50.0, 0.1, test_loss=0.7, **kind)

    def test_a_state_takes_a_log_back_to_its_checkpoint(self):
        with common.folder() as place:
            log = longtail.RunLog(place, self.config, [3, 2])
            log.epoch(1.0, 50.0, 0.1, test_loss=0.7, correct=[1, 1], images=[2, 2])
            state = log.state_dict()
            log.epoch(0.5, 60.0, 0.1, test_loss=0.6, correct=[2, 2], images=[2, 2])
            again = longtail.RunLog(place, self.config, [3, 2])
            again.load_state_dict(state)
            self.assertEqual(again.epochs, 1)
            again.epoch(0.5, 60.0, 0.1, test_loss=0.6, correct=[2, 2], images=[2, 2])
            self.assertEqual(again.state_dict(), log.state_dict())
            with self.assertRaisesRegex(ValueError, "another run"):
                longtail.RunLog(place, dict(self.config, lr=0.2), [3, 2]).load_state_dict(state)

    def test_mistakes_are_sentences(self):
        with common.folder() as place:
            log = longtail.RunLog(place, self.config, [3, 2])
            for arguments, words in (({"test_loss": float("nan"), "correct": [1, 1], "images": [2, 2]}, "finite"),
                                     ({"test_loss": 1, "correct": [3, 1], "images": [2, 2]}, "3 right answers of 2"),
                                     ({"test_loss": 1, "confusion": [[1, 2]]}, "1 rows for 2 classes"),
                                     ({}, "give `test_loss`")):
                with self.assertRaisesRegex(ValueError, words):
                    log.epoch(1.0, 50.0, 0.1, **arguments)
            with self.assertRaisesRegex(ValueError, "no epoch"):
                log.finish()
            with self.assertRaisesRegex(TypeError, "did you mean `confusion`"):
                log.epoch(1.0, 50.0, 0.1, confusoin=[[1]])

    def test_a_report_has_tables_as_lists_of_dictionaries_and_writes_the_page(self):
        with common.folder() as place:
            for strategy in ("uniform", "class_balanced"):
                for seed in (1, 2, 3):
                    config = dict(self.config, strategy=strategy, seed=seed, epochs=1, rho=20)
                    log = longtail.RunLog(place / f"{strategy}{seed}", config, [200, 50, 10])
                    right = [9, 5, 2 + seed] if strategy == "uniform" else [8, 6, 5 + seed]
                    log.epoch(1.0, 50.0, 0.1, test_loss=0.7, correct=right, images=[10, 10, 10])
                    log.finish()
            logs = sorted(place.glob("*/log.json"))
            made = longtail.report(logs, place / "report", tables_only=True)
            rows = made["tables"]["overall"]["rows"]
            self.assertEqual(len(rows), 2)
            self.assertIn("Uniform", str(rows))
            self.assertTrue((place / "report" / "summary.md").exists())
            self.assertIn("class", made["text"].lower())
            named = longtail.report(logs, tables_only=True, names={"Class-Balanced": "Every class alike"})
            self.assertIn("Every class alike", str(named["tables"]["overall"]["rows"]))
            self.assertNotIn("Class-Balanced", named["text"])
            self.assertEqual(made["recommendation"]["goal"], "balanced")
            self.assertIn(made["recommendation"]["sentence"], made["text"])
            tail = longtail.report(logs, goal="tail", at="last", epochs=1, std="sample", against="paper")
            self.assertEqual(tail["recommendation"]["goal"], "tail")
            self.assertIn("last epoch", tail["tables"]["overall"]["caption"])
            self.assertEqual({finding["series"] for finding in tail["findings"]}, {"class_balanced"})
            for wrong in ({"goal": "heads"}, {"at": "bets"}, {"select": "best"}, {"epochs": "many"}, {"against": "us"}):
                with self.assertRaisesRegex(ValueError, next(iter(wrong.values()))):
                    longtail.report(logs, **wrong)
            with self.assertRaisesRegex(ValueError, "two series would be called `Uniform`"):
                longtail.report(logs, names={"Class-Balanced": "Uniform"})


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
