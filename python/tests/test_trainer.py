"""Anyone's trainer: a study whose runs are done by a script, without torch."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import common
import longtail

TRAINER = '''
import json, os, pathlib, sys, time
import longtail
study, run = json.load(open(sys.argv[1])), pathlib.Path(sys.argv[2])
config, params = study["config"], study["params"]
print("hello from", study["name"], flush=True)
(run / "pid").write_text(str(os.getpid()))
mode = params.get("mode", "good") if config["strategy"] == "uniform" else "good"
if mode == "crash":
    sys.exit("no such device")
if mode == "hang":
    os.fork() or time.sleep(1000)
    time.sleep(1000)
if mode == "flaky" and not (run / "tried").exists():
    (run / "tried").touch()
    sys.exit(3)
log = longtail.RunLog(run, study, [200, 50, 10], subset=str(config["seed"]), init=str(params.get("network", "")))
state = run / "state.json"
if state.exists():
    log.load_state_dict(json.loads(state.read_text()))
for epoch in range(log.epochs, config["epochs"]):
    time.sleep(params.get("pause", 0))
    right = [9, 5, 2] if config["strategy"] == "uniform" else [8, 6, 4 + config["seed"] % 3]
    log.epoch(2.0 / (epoch + 1), 50.0, config["lr"], test_loss=1.0, correct=right, images=[10, 10, 10])
    state.write_text(json.dumps(log.state_dict()))
    if mode == "parts" and epoch + 1 < config["epochs"]:
        sys.exit(0)
if mode != "unfinished":
    log.finish()
if mode in ("wrong", "text", "foreign"):
    path = run / "log.json"
    text = json.loads(path.read_text())
    if mode == "wrong":
        text["test_acc"][0] = 123
    if mode == "foreign":
        text["seed"] = 99
    text.pop("results_sha256", None)  # as a writer of its own would
    path.write_text(json.dumps(text) if mode != "text" else "no json")
'''

STUDY = '''
[trainer]
command = [{python}, {script}, "{{config}}", "{{run}}"]
time_limit = "{limit}"
retries = {retries}
[trainer.params]
{params}
[data]
dataset = "toy"
profile = "exp"
groups = "paper"
rho = 20
[train]
epochs = 3
[grid]
seed = [1, 2]
strategy = ["uniform", "class_balanced"]
'''


class Trainers(unittest.TestCase):
    def setUp(self):
        self.context = common.folder()
        self.place = self.context.__enter__()
        self.addCleanup(self.context.__exit__, None, None, None)
        (self.place / "trainer.py").write_text(TRAINER)

    def study(self, params="", limit="60s", retries=0):
        text = STUDY.format(python=json.dumps(sys.executable), script=json.dumps(str(self.place / "trainer.py")),
                            limit=limit, retries=retries, params=params)
        (self.place / "mine.toml").write_text(text)
        return self.place / "mine.toml"

    def run_study(self, file, *arguments):
        return common.program("study", "run", file, "--out", self.place / "out", "--jobs", 2, *arguments, check=False)

    def failure(self, part="uniform"):
        reasons = [json.loads(path.read_text())["reason"] for path in self.place.glob(f"out/runs/{part}*/failed.json")]
        self.assertEqual(len(reasons), 2)
        return reasons[0]

    def assert_others_done(self):
        self.assertEqual(len(list(self.place.glob("out/runs/class_balanced*/done.json"))), 2)

    def test_a_good_trainer_is_run_once_for_each_run_and_reported(self):
        done = self.run_study(self.study("heads = [1, 2]"))
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        folders = sorted((self.place / "out" / "runs").iterdir())
        self.assertEqual(len(folders), 8)
        self.assertIn("heads1", folders[0].name)
        config = json.loads((folders[0] / "config.json").read_text())
        self.assertEqual((config["config"]["lr"], config["config"]["epochs"], config["params"]), (0.1, 3, {"heads": 1}))
        self.assertIn("hello from", (folders[0] / "output.txt").read_text())
        self.assertEqual(longtail.read_log(folders[0])["config"]["heads"], 1)
        self.assertIn("8 done", common.program("study", "status", self.place / "out").stdout)
        before = {path: path.stat().st_mtime_ns for path in self.place.glob("out/runs/*/log.json")}
        self.assertEqual(self.run_study(self.study("heads = [1, 2]")).returncode, 0)
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in self.place.glob("out/runs/*/log.json")})
        told = common.program("report", self.place / "out", "--tables-only")
        self.assertIn("heads", told.stdout)

    def test_a_trainer_that_crashes_is_recorded_with_its_last_words(self):
        done = self.run_study(self.study('mode = "crash"'))
        self.assertEqual(done.returncode, 1)
        self.assertIn("ended with exit code 1", self.failure())
        self.assertIn("no such device", self.failure())
        self.assert_others_done()

    def test_a_trainer_past_its_time_limit_is_stopped_with_all_it_started(self):
        done = self.run_study(self.study('mode = "hang"', limit="3s"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("not done within 3.0 s (`time_limit`)", self.failure())
        self.assert_others_done()
        left = subprocess.run(["pgrep", "-f", str(self.place / "trainer.py")], capture_output=True, text=True).stdout
        self.assertEqual(left, "")

    def test_a_log_that_is_wrong_is_named_with_the_field(self):
        for mode, words in (("wrong", "`test_acc` has 123"), ("text", "is not a run log"),
                            ("foreign", "its `seed` is `99`"), ("unfinished", "`finished` false")):
            with self.subTest(mode):
                file = self.study(f'mode = "{mode}"')
                subprocess.run(["rm", "-rf", self.place / "out"], check=True)
                self.assertEqual(self.run_study(file).returncode, 1)
                self.assertIn(words, self.failure())
                self.assert_others_done()

    def test_a_trainer_that_failed_is_called_again_as_often_as_retries_says(self):
        self.assertEqual(self.run_study(self.study('mode = "flaky"', retries=0)).returncode, 1)
        self.assertIn("exit code 3", self.failure())
        subprocess.run(["rm", "-rf", self.place / "out"], check=True)
        done = self.run_study(self.study('mode = "flaky"', retries=1))
        self.assertEqual(done.returncode, 0)
        self.assertIn("exit code 3: hello from", done.stdout)
        self.assertEqual(done.stdout.count("it is called again, 1 of 1"), 2)

    def test_a_trainer_that_does_a_part_at_a_time_is_called_until_it_is_finished(self):
        self.assertEqual(self.run_study(self.study('mode = "parts"')).returncode, 0)
        (first, *_) = self.place.glob("out/runs/uniform*/output.txt")
        self.assertEqual(first.read_text().count("hello"), 3)

    def test_a_killed_study_resumes_and_gives_the_same_logs(self):
        self.assertEqual(self.run_study(self.study("pause = 0.5")).returncode, 0)
        whole = {path.parent.name: path.read_bytes() for path in self.place.glob("out/runs/*/log.json")}
        subprocess.run(["rm", "-rf", self.place / "out"], check=True)
        kills = 0
        for signal_number in (signal.SIGKILL, signal.SIGTERM):
            process = subprocess.Popen([common.PROGRAM, "study", "run", self.study("pause = 0.5"), "--out", self.place / "out"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            marks = len(list(self.place.glob("out/runs/*/progress.json"))) + len(list(self.place.glob("out/runs/*/done.json")))
            end = time.monotonic() + 120
            while time.monotonic() < end and process.poll() is None:
                found = len(list(self.place.glob("out/runs/*/progress.json"))) + len(list(self.place.glob("out/runs/*/done.json")))
                if found > marks:
                    break
                time.sleep(0.05)
            kills += process.poll() is None
            process.send_signal(signal_number)
            process.wait(120)
        self.assertEqual(kills, 2)
        self.assertEqual(self.run_study(self.study("pause = 0.5")).returncode, 0)
        self.assertEqual(whole, {path.parent.name: path.read_bytes() for path in self.place.glob("out/runs/*/log.json")})

    def test_a_stop_that_reaches_trainer_worker_and_study_alike_is_no_failure(self):
        file = self.study("pause = 0.5")
        process = subprocess.Popen([common.PROGRAM, "study", "run", file, "--out", self.place / "out"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end, trainer = time.monotonic() + 120, None
        while trainer is None and time.monotonic() < end and process.poll() is None:
            time.sleep(0.05)
            for path in self.place.glob("out/runs/*/pid"):
                trainer = int(path.read_text() or 0) or None
        worker = int(pathlib.Path(f"/proc/{trainer}/stat").read_text().split()[3])
        for pid in (trainer, worker, process.pid):
            os.kill(pid, signal.SIGTERM)
        self.assertEqual(process.wait(120), 130)
        self.assertEqual(list(self.place.glob("out/runs/*/failed.json")), [])
        self.assertEqual(self.run_study(file).returncode, 0)

    def test_a_parameter_of_the_trainer_may_mean_another_network(self):
        done = self.run_study(self.study('network = ["resnet20", "mobilenet_v2"]'))
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("all strategies share subset and initial weights (checked on 8 runs). Whether the runs of a seed share "
                      "augmentation is not known", done.stdout)
        self.assertNotIn("initial weights", common.program("report", self.place / "out", "--tables-only").stderr)

    def test_the_time_of_a_trainer_is_not_known(self):
        done = common.program("study", "check", self.study(), "--seconds", check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the runs are done by a trainer", done.stderr)

    def test_mistakes_in_the_file_are_named_with_their_line(self):
        for params, words in (("lr = 1", "`lr` is a parameter of a run"), ("a = []", "empty list"),
                              ("a = [1, 1]", "`1` twice"), ("a = {b = 1}", "plain value")):
            done = common.program("study", "check", self.study(params), check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("mine.toml:7: ", done.stderr)
            self.assertIn(words, done.stderr)
        shown = common.program("study", "check", self.study("heads = [1, 2]"))
        self.assertIn("8 runs of the trainer", shown.stdout)


if __name__ == "__main__":
    unittest.main()
