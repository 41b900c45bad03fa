"""With PyTorch: DataLoader, two real processes, and examples/pytorch/train.py beside the built-in trainer."""

import copy
import importlib.util
import json
import subprocess
import sys
import unittest
import unittest.mock

import numpy

import common

common.need_torch()
import torch.distributed
import torch.utils.data

import longtail

TRAIN = common.SOURCE / "examples" / "pytorch" / "train.py"

RANKS = '''
import json, os, sys, torch.distributed
import longtail
sampler = longtail.Sampler(counts=json.loads(sys.argv[1]), strategy="progressive", epochs=5, seed=9)
torch.distributed.init_process_group("gloo")
sampler.set_epoch(2)
path = os.path.join(sys.argv[2], f"rank{torch.distributed.get_rank()}.json")
json.dump(list(sampler), open(path, "w"))
'''


def load_train():
    """examples/pytorch/train.py as a module."""
    described = importlib.util.spec_from_file_location("train", TRAIN)
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def torchrun(*arguments):
    # redirects and tee: their default, 0, is lost in torchrun 1.13 on Python 3.11, whose Flag has no member 0.
    return subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--redirects", "1", "--tee",
                           "1", "--rdzv_backend", "c10d", "--rdzv_endpoint", "127.0.0.1:0", *map(str, arguments)],
                          capture_output=True, text=True)


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return sum(common.COUNTS)

    def __getitem__(self, i):
        return i


class Loaders(unittest.TestCase):
    def test_a_data_loader_has_the_stream_with_any_number_of_workers(self):
        for workers in (0, 1, 4):
            sampler = longtail.Sampler(counts=common.COUNTS, strategy="square_root", seed=4)
            loader = torch.utils.data.DataLoader(Numbers(), 32, sampler=sampler, num_workers=workers)
            for epoch in range(2):
                expected = longtail.Sampler(counts=common.COUNTS, strategy="square_root", seed=4)
                expected.set_epoch(epoch)
                self.assertEqual(torch.cat(list(loader)).tolist(), expected.indices().tolist())

    def test_batches_of_the_batch_sampler_are_the_loader_s(self):
        batches = longtail.BatchSampler(longtail.Sampler(counts=common.COUNTS), 32, drop_last=True)
        loader = torch.utils.data.DataLoader(Numbers(), batch_sampler=batches, num_workers=1)
        expected = longtail.Sampler(counts=common.COUNTS).indices(0, 32 * len(batches)).reshape(-1, 32)
        self.assertEqual([batch.tolist() for batch in loader], expected.tolist())

    def test_a_checkpoint_near_the_end_of_a_read_ahead_epoch_lacks_no_draw(self):
        whole = longtail.Sampler(counts=common.COUNTS).indices()
        for batched in (False, True):
            walks = [longtail.Sampler(counts=common.COUNTS) for _ in range(2)]
            walks = [longtail.BatchSampler(sampler, 32) for sampler in walks] if batched else walks
            loaders = [torch.utils.data.DataLoader(Numbers(), num_workers=2, **self.arguments(walk)) for walk in walks]
            steps, seen, state = len(loaders[0]) - 1, [], None
            for step, batch in enumerate(loaders[0], 1):
                seen += batch.tolist()
                if step == steps:
                    self.assertEqual(walks[0].epoch, 1)  # the workers have been given everything
                    state = walks[0].state_dict(consumed=steps if batched else 32 * steps)
                    break
            walks[1].load_state_dict(state)
            self.assertEqual(seen + torch.cat(list(loaders[1])).tolist(), whole.tolist())
            self.assertEqual(walks[1].epoch, 1)

    def test_a_copy_of_a_data_loader_continues_at_the_position(self):
        for batched in (False, True):
            walk = longtail.Sampler(counts=common.COUNTS, strategy="square_root")
            walk = longtail.BatchSampler(walk, 32) if batched else walk
            loader = torch.utils.data.DataLoader(Numbers(), **self.arguments(walk))
            batches = iter(loader)
            for _ in range(3):
                next(batches)
            other = copy.deepcopy(loader)
            self.assertEqual(torch.cat(list(other)).tolist(), torch.cat(list(batches)).tolist())
            self.assertEqual(torch.cat(list(other)).tolist(), torch.cat(list(loader)).tolist())

    @staticmethod
    def arguments(walk):
        return {"batch_sampler": walk} if isinstance(walk, longtail.BatchSampler) else {"sampler": walk, "batch_size": 32}

    @unittest.skipUnless(torch.distributed.is_available(), "this PyTorch has no torch.distributed")
    def test_two_processes_of_torchrun_share_the_stream(self):
        with common.folder() as place:
            (place / "ranks.py").write_text(RANKS)
            done = torchrun(place / "ranks.py", json.dumps(common.COUNTS), place)
            self.assertEqual(done.returncode, 0, done.stderr)
            parts = [json.loads((place / f"rank{rank}.json").read_text()) for rank in (0, 1)]
        whole = longtail.Sampler(counts=common.COUNTS, strategy="progressive", epochs=5, seed=9)
        whole.set_epoch(2)
        self.assertEqual([parts[i % 2][i // 2] for i in range(len(whole))], list(whole))


class Training(unittest.TestCase):
    def config(self, place, **changes):
        common.make_pictures(place)
        told = {"config": {"dataset": "toy", "strategy": "uniform", "seed": 3, "epochs": 1, "batch_size": 16, "rho": 4.0,
                           "profile": "exp", "n_max": 0, "augment": "none", "model": "resnet20", "lr": 0.05, "momentum": 0.9,
                           "nesterov": True, "weight_decay": 2e-4, "clip": 5.0, "schedule": "constant", "warmup_epochs": 0,
                           "milestones": [], "lr_decay": 0.1, **changes},
                "params": {}, "hash": "abc", "name": "toy", "data": str(place), "threads": 1}
        (place / "config.json").write_text(json.dumps(told))
        return place / "config.json"

    def train(self, config, run, launch=None):
        run.mkdir(exist_ok=True)
        done = (launch or (lambda *words: subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True)))(
            TRAIN, config, run)
        self.assertEqual(done.returncode, 0, done.stderr)
        return longtail.read_log(run)

    def test_the_first_epoch_has_the_training_loss_of_the_built_in_trainer(self):
        with common.folder() as place:
            theirs = self.train(self.config(place), place / "torch")
            common.program("train", "--dataset", place, "--profile", "exp", "--rho", 4, "--seed", 3, "--epochs", 1,
                           "--batch-size", 16, "--augment", "none", "--model", "resnet20", "--lr", 0.05, "--schedule",
                           "constant", "--warmup-epochs", 0, "--strategy", "uniform", "--out", place / "ours")
            ours = longtail.read_log(place / "ours")
        self.assertEqual(ours["class_counts"], theirs["class_counts"])
        self.assertEqual(ours["fingerprint"]["subset"], theirs["fingerprint"]["subset"])
        self.assertEqual(ours["fingerprint"]["init"], theirs["fingerprint"]["init"])
        self.assertLess(abs(theirs["train_loss"][0] / ours["train_loss"][0] - 1), 0.02)

    def test_a_strategy_is_told_what_it_needs(self):
        with common.folder() as place:
            stratified = self.train(self.config(place, strategy="stratified:of=class_balanced"), place / "stratified")
            focus = self.train(self.config(place, strategy="focus", epochs=2), place / "focus")
        self.assertTrue(stratified["finished"])
        self.assertEqual([len(accuracies) for accuracies in focus["class_accuracy"]], [4, 4])
        self.assertEqual(stratified.get("class_accuracy", []), [])

    def test_what_the_script_does_not_do_ends_it_before_training(self):
        with common.folder() as place:
            config = self.config(place, loss="focal")
            done = subprocess.run([sys.executable, TRAIN, config, place / "run"], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("`loss` is `focal`, but train.py can only do `cross_entropy`", done.stderr)
            self.assertFalse((place / "run").exists())
            train = load_train()
            for changes, words in (
                    ({"augment": "crop_flip+mixup:alpha=0.2"}, "`augment` is .* only do `crop_flip` or `none`"),
                    ({"val_fraction": 0.1}, "`val_fraction` is `0.1`"), ({"val_fraction": -1.0}, "only do `0`"),
                    ({"select": "balanced"}, "only do `overall`"), ({"shortcut": "pad"}, "`shortcut`"),
                    ({"width": 2}, "`width`"), ({"head": "cosine"}, "`head`"), ({"rebalance": "crt"}, "`rebalance`"),
                    ({"image_size": 64}, "`image_size` is `64`"), ({"novelty": 1}, "`novelty` .* does not know"),
                    ({"strategy": "adaptive"}, "train.py holds none out"), ({"batch_size": 1000}, "there are only .* images")):
                with self.assertRaisesRegex(SystemExit, words):
                    train.main(self.config(place, **changes), place / "run")
            with self.assertRaisesRegex(SystemExit, "`heads` is in .* takes only `network`"):
                train.refuse_what_is_not_done({}, {"heads": 2})
            with self.assertRaisesRegex(SystemExit, "3 processes"):
                train.make_sampler({"batch_size": 16}, numpy.array([20, 10]), 3)
            self.assertFalse((place / "run").exists())

    def test_sums_over_the_processes_lie_where_the_network_does(self):
        train, summed = load_train(), []
        for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():  # nccl adds up nothing on the CPU
            network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 8 * 8, 2)).to(device)
            images = train.Images(torch.zeros(8, 3, 8, 8, dtype=torch.uint8), torch.arange(8) // 4, torch.zeros(1, 3, 1, 1),
                                  torch.ones(1, 3, 1, 1))
            batches = longtail.BatchSampler(longtail.Sampler(counts=[4, 4], num_replicas=1, rank=0), 4)

            def all_reduce(sums):  # as if the other process had seen the same
                summed.append(sums.device.type)
                sums *= 2

            with unittest.mock.patch.multiple(torch.distributed, create=True, is_initialized=lambda: True, get_rank=lambda: 0,
                                              get_world_size=lambda: 1, all_reduce=all_reduce):
                loss, accuracy, by_class = train.train_epoch(network, images, batches, torch.optim.SGD(network.parameters(), 0.0),
                                                             {"seed": 1, "augment": "none", "clip": 0}, 0, device)
            self.assertEqual(summed[-1], device)
            self.assertTrue(0 < loss < 10, loss)
            self.assertEqual((accuracy, sorted(by_class)), (50.0, [0.0, 100.0]))  # all images look the same

    def test_initial_weights_are_those_that_pytorch_draws_to_its_last_bits(self):
        torch.manual_seed(42)
        network = load_train().ResNet(20, 10)
        for module in network.modules():
            if isinstance(module, torch.nn.Conv2d):
                torch.nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        torch.nn.init.normal_(network.linear.weight, 0, 0.01)
        torch.nn.init.zeros_(network.linear.bias)
        drawn = torch.nn.utils.parameters_to_vector(network.parameters()).detach().numpy()
        numpy.testing.assert_allclose(longtail.initial_weights("resnet20", 10, 42), drawn, rtol=0, atol=1e-6)

    def test_a_run_that_was_stopped_resumes_with_the_same_log(self):
        with common.folder() as place:
            whole = self.train(self.config(place, epochs=2, augment="crop_flip"), place / "whole")
            config = self.config(place, epochs=2, augment="crop_flip")
            (place / "parts").mkdir()
            process = subprocess.Popen([sys.executable, TRAIN, config, place / "parts"], stdout=subprocess.PIPE, text=True)
            process.stdout.readline()  # epoch 1 is done and its checkpoint is there
            process.kill()
            process.wait()
            process.stdout.close()
            self.assertFalse(longtail.read_log(place / "parts")["finished"])
            parts = self.train(self.config(place, epochs=2, augment="crop_flip"), place / "parts")
        self.assertEqual(parts["train_loss"], whole["train_loss"])
        self.assertEqual(parts["best"], whole["best"])

    @unittest.skipUnless(torch.distributed.is_available(), "this PyTorch has no torch.distributed")
    def test_two_processes_train_together(self):
        with common.folder() as place:
            config = self.config(place, epochs=1)
            log = self.train(config, place / "two", torchrun)
            alone = self.train(config, place / "one")
        self.assertTrue(log["finished"])
        self.assertEqual(log["fingerprint"]["init"], alone["fingerprint"]["init"])
        # The same images in each step; batch norm sees half of them in each process.
        self.assertLess(abs(log["train_loss"][0] / alone["train_loss"][0] - 1), 0.2)


class Studies(unittest.TestCase):
    def test_the_shipped_study_asks_for_nothing_that_the_script_refuses(self):
        with common.folder() as place:
            done = common.program("study", "run", common.SOURCE / "studies" / "pytorch.toml", "--out", place / "out", "--data",
                                  place, "--set", 'trainer.command=["false"]', "--set", "trainer.retries=0", check=False)
            self.assertEqual(done.returncode, 1)  # that nothing was trained; the configurations are there
            configs = [json.loads(path.read_text()) for path in place.glob("out/runs/*/config.json")]
        self.assertEqual(len(configs), 12)
        train = load_train()
        for told in configs:
            train.refuse_what_is_not_done(told["config"], told["params"])
            self.assertEqual(set(told["config"]), set(train.CAN))

    def test_the_shipped_study_at_toy_size_runs_is_killed_resumes_and_reports(self):
        with common.folder() as place:
            common.make_pictures(place)
            changes = ["trainer.time_limit=10m", "train.epochs=2", "train.batch_size=16", "train.warmup_epochs=1", "data.rho=4",
                       "data.dataset=toy", "data.profile=exp", "model.model=resnet20", "grid.seed=[1,2]",
                       "data.val_fraction=0", "train.select=overall",  # a data set of one's own has other defaults
                       f'trainer.command=["{sys.executable}", "{TRAIN}", "{{config}}", "{{run}}"]']
            command = ["study", "run", common.SOURCE / "studies" / "pytorch.toml", "--out", place / "out", "--data", place]
            for change in changes:
                command += ["--set", change]
            # Killed when the first run is done, a few epochs before the last.
            process = subprocess.Popen([common.PROGRAM, *map(str, command)], stdout=subprocess.PIPE, text=True)
            for line in process.stdout:
                if " done " in line and "study pytorch" not in line:
                    break
            alive = process.poll() is None
            process.kill()
            process.wait()
            self.assertTrue(alive)
            before = len(list(place.glob("out/runs/*/done.json")))
            self.assertTrue(1 <= before < 8, before)
            done = common.program(*command, "--jobs", 2, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(len(list(place.glob("out/runs/*/done.json"))), 8)
            self.assertIn("all strategies share subset, initial weights", done.stdout)
            made = longtail.report(place / "out", place / "report", tables_only=True)
            self.assertEqual(len(made["tables"]["overall"]["rows"]), 4)


if __name__ == "__main__":
    unittest.main()
