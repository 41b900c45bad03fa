"""docs/log.schema.json and the program's own reader agree: on the committed logs, and on logs with one field wrong."""

import copy
import importlib.util
import json
import unittest

import common

if importlib.util.find_spec("jsonschema") is None:
    common.skip("python3-jsonschema is not installed (scripts/setup --python)")
import jsonschema

import longtail

SCHEMA = json.loads((common.SOURCE / "docs" / "log.schema.json").read_text())


class Schema(unittest.TestCase):
    def setUp(self):
        self.check = jsonschema.Draft202012Validator(SCHEMA)
        with common.folder() as place:
            log = longtail.RunLog(place, {"strategy": "uniform", "seed": 1}, [20, 5])
            log.epoch(1.0, 50.0, 0.1, test_loss=0.5, confusion=[[3, 1], [2, 2]])
            log.finish()
            self.log = json.loads((place / "log.json").read_text())

    def test_the_committed_logs_and_those_of_python_are_valid(self):
        self.check.validate(self.log)
        texts = [json.loads(path.read_text()) for path in sorted((common.SOURCE / "results").glob("**/*seed*.json"))]
        logs = [text for text in texts if "schema" in text]
        self.assertGreater(len(logs), 10)
        for log in logs[::5]:
            self.check.validate(log)

    def test_what_the_schema_requires_the_reader_requires_and_names(self):
        with common.folder() as place:
            for key in SCHEMA["required"]:
                if key == "schema":  # without it a log is one of the paper's
                    continue
                broken = {name: value for name, value in self.log.items() if name != key}
                self.assertFalse(self.check.is_valid(broken), key)
                (place / "log.json").write_text(json.dumps(broken))
                with self.assertRaisesRegex(ValueError, f"`{key}`"):
                    longtail.read_log(place)

    def test_a_wrong_value_is_refused_by_both_and_named(self):
        changes = {"test_acc": [101], "train_acc": ["x"], "class_counts": [-1, 5], "seed": "one", "finished": "yes",
                   "group_sizes": [1, 1], "class_names": [1, 2], "best_epoch": -1, "strategy": 3, "test_loss": []}
        with common.folder() as place:
            for key, value in changes.items():
                broken = copy.deepcopy(self.log)
                broken[key] = value
                self.assertFalse(self.check.is_valid(broken), key)
                (place / "log.json").write_text(json.dumps(broken))
                with self.assertRaisesRegex(ValueError, f"`{key}`"):
                    longtail.read_log(place)


if __name__ == "__main__":
    unittest.main()
