"""The samplers without torch: against the program, their states, copies and mistakes."""

import copy
import multiprocessing
import pickle
import random
import unittest

import numpy

import common
import longtail


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


if __name__ == "__main__":
    unittest.main()
