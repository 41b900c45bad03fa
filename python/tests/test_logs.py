"""Run logs and reports made from Python: contents, states, mistakes."""

import types
import unittest

import numpy

import common
import longtail


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


if __name__ == "__main__":
    unittest.main()
