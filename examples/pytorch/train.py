#!/usr/bin/env python3
"""Trains a network under a sampling strategy in PyTorch and writes a run log: the trainer of studies/pytorch.toml.

  longtail study run studies/pytorch.toml --out out/pytorch --data DATA       every run of a study
  python3 train.py config.json RUN                                            one run
  torchrun --nproc-per-node 2 train.py config.json RUN                        one run on two devices

config.json is what a study writes (docs/studies.md). Resumes from RUN/state.pt; CUDA if there is any. What the script cannot
do it refuses before it trains (CAN, below).
"""

import json
import math
import os
import pathlib
import sys

import numpy
import torch
import torch.distributed
from torch import nn
from torch.nn import functional

import longtail

# What the script can do with each parameter of a run (docs/parameters.md): whatever it says, or these values. Anything else is
# refused: the log would name what no training did, and a study would compare equal trainings under different names.
ANY = None
CAN = {"dataset": ANY, "profile": ANY, "rho": ANY, "n_max": ANY, "counts_file": ANY, "class_order": ANY, "groups": ANY,
       "image_size": ANY,  # if it is that of the pictures, see load()
       "fit": ["stretch"], "skip_unreadable": [False], "augment": ["crop_flip", "none"], "val_fraction": [0],
       "model": ANY, "shortcut": ["projection"], "width": [1], "head": ["linear"],
       "strategy": ANY,  # but those that look at held-out images, see make_sampler()
       "seed": ANY, "loss": ["cross_entropy"], "select": ["overall"], "epochs": ANY, "batch_size": ANY, "lr": ANY,
       "momentum": ANY, "nesterov": ANY, "weight_decay": ANY, "clip": ANY, "schedule": ["multistep", "cosine", "constant"],
       "warmup_epochs": ANY, "milestones": ANY, "lr_decay": ANY, "rebalance": ["none"]}
PARAMS = ["network"]  # of [trainer.params]


def refuse_what_is_not_done(config, params):
    for key, value in config.items():
        if key not in CAN:
            sys.exit(f"`{key}` is `{value}`, but train.py does not know this parameter; write into the script what it does")
        if CAN[key] is not ANY and value not in CAN[key]:
            sys.exit(f"`{key}` is `{value}`, but train.py can only do {words(CAN[key])}; change `{key}` in the study, or "
                     "write it into the script")
    for key in params:
        if key not in PARAMS:
            sys.exit(f"`{key}` is in [trainer.params], but train.py takes only {words(PARAMS)}; leave it out")


def words(values):
    return " or ".join(f"`{value}`" for value in values)


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Sequential()
        if stride != 1 or inside != outside:
            self.shortcut = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(y + self.shortcut(x))


class ResNet(nn.Module):
    """The network of the paper."""

    def __init__(self, depth, classes, channels=3):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        width, blocks = 16, (depth - 2) // 6
        for stage in range(3):
            layers = []
            for block in range(blocks):
                layers.append(Block(width, 16 << stage, 2 if stage > 0 and block == 0 else 1))
                width = 16 << stage
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
        self.linear = nn.Linear(64, classes)

    def forward(self, x):
        x = functional.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.linear(x.mean((2, 3)))


def make_network(name, classes, channels, seed):
    torch.manual_seed(seed)
    if name.startswith("resnet") and name[6:] in ("20", "32", "44", "56", "110"):
        network = ResNet(int(name[6:]), classes, channels)
        weights = longtail.initial_weights(name, classes, seed, channels=channels)  # those of `longtail train`
        nn.utils.vector_to_parameters(torch.from_numpy(weights), network.parameters())
        return network
    import torchvision  # any network of it: params.network = "mobilenet_v2"
    return torchvision.models.get_model(name, num_classes=classes)


class Images(torch.utils.data.TensorDataset):
    """Pictures as bytes, labels, and the mean and deviation of the channels."""

    def __init__(self, pixels, labels, mean, deviation):
        super().__init__(pixels, labels.long())
        self.pixels, self.labels, self.mean, self.deviation = pixels, labels.long(), mean, deviation

    def normalised(self, pixels):
        return (pixels.float() / 255 - self.mean) / self.deviation


def load(folder, side):
    """pixels (n, channels, side, side) and labels of both splits: train_images.npy, train_labels.npy, test_..."""
    if not folder:
        sys.exit("no folder of the data is given; give `longtail study run` a --data, or the study a `data` in [run]")
    read = [torch.from_numpy(numpy.load(pathlib.Path(folder) / f"{split}_{what}.npy"))
            for split in ("train", "test") for what in ("images", "labels")]
    for pixels in read[::2]:
        if tuple(pixels.shape[2:]) != (side, side):
            sys.exit(f"`image_size` is `{side}`, but the pictures in {folder} have the shape {tuple(pixels.shape)} and train.py "
                     "does not scale them; set `image_size` to their side, or scale them before")
    return read


def crop_flip(pixels, generator):
    n, side = len(pixels), pixels.shape[-1]
    margin = side // 8
    padded = functional.pad(pixels, (margin, margin, margin, margin))
    x, y = torch.randint(0, 2 * margin + 1, (2, n), generator=generator)
    flips = torch.rand(n, generator=generator) < 0.5
    out = torch.stack([padded[i, :, y[i]:y[i] + side, x[i]:x[i] + side] for i in range(n)])
    out[flips] = out[flips].flip(-1)
    return out


def crop_generator(config, epoch, rank):
    """By the seed and not by the strategy: the runs of a seed share their crops and flips, position by position."""
    return torch.Generator().manual_seed((config["seed"] * 1000003 + epoch) * 1009 + rank)


def augmentation_hash(config, world):
    """What the log says of the augmentation: equal for runs that have the same crops."""
    if config["augment"] == "none":
        return longtail.sha256(torch.zeros(1).numpy())
    draws = [torch.rand(256, generator=crop_generator(config, epoch=0, rank=rank)) for rank in range(world)]
    return longtail.sha256(torch.cat(draws).numpy())


def learning_rate(config, epoch):
    """As `longtail train` has it: warm-up, then steps, half a cosine or constant."""
    if epoch < config["warmup_epochs"]:
        return config["lr"] * (epoch + 1) / config["warmup_epochs"]
    if config["schedule"] == "cosine":
        part = (epoch - config["warmup_epochs"]) / (config["epochs"] - config["warmup_epochs"])
        return config["lr"] * (1 + math.cos(math.pi * part)) / 2
    if config["schedule"] == "constant":
        return config["lr"]
    return config["lr"] * config["lr_decay"] ** sum(epoch >= milestone for milestone in config["milestones"])


def make_sampler(config, counts, world):
    if config["batch_size"] % world:
        sys.exit(f"`batch_size` is `{config['batch_size']}`, which {world} processes cannot share; use a multiple of {world}")
    if config["batch_size"] > counts.sum():
        sys.exit(f"`batch_size` is `{config['batch_size']}`, but there are only {counts.sum()} images; use a smaller one")
    sampler = longtail.Sampler(counts=counts, strategy=config["strategy"], epochs=config["epochs"], seed=config["seed"],
                               batch_size=config["batch_size"])
    if sampler.feedback == "held_out":
        sys.exit(f"`strategy` is `{config['strategy']}`, which looks at held-out images, but train.py holds none out; use "
                 "another strategy, or `longtail train`")
    return sampler


def train_epoch(model, images, batches, optimizer, config, epoch, device):
    """Loss, accuracy and the accuracy of each class (NaN if it was not drawn), over the draws of all processes."""
    model.train()
    classes = len(batches.sampler.counts)
    # Summed loss, right answers of each class, draws of each class. On the device: nccl adds up nothing else.
    totals = torch.zeros(1 + 2 * classes, dtype=torch.float64, device=device)
    rank = torch.distributed.get_rank() if torch.distributed.is_initialized() else 0
    generator = crop_generator(config, epoch, rank)
    loader = torch.utils.data.DataLoader(images, batch_sampler=batches)
    for pixels, labels in loader:
        if config["augment"] == "crop_flip":
            pixels = crop_flip(pixels, generator)
        labels = labels.to(device)
        logits = model(images.normalised(pixels).to(device))
        loss = functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        if config["clip"] > 0:
            nn.utils.clip_grad_norm_(model.parameters(), config["clip"])
        optimizer.step()
        totals[0] += loss.item() * len(labels)
        totals[1:1 + classes] += torch.bincount(labels[logits.argmax(1) == labels], minlength=classes)
        totals[1 + classes:] += torch.bincount(labels, minlength=classes)
    if torch.distributed.is_initialized():
        torch.distributed.all_reduce(totals)
    loss, right, drawn = totals.cpu().split([1, classes, classes])
    return loss.item() / drawn.sum().item(), 100 * right.sum().item() / drawn.sum().item(), (100 * right / drawn).tolist()


@torch.no_grad()
def predict(model, images, device):
    model.eval()
    return torch.cat([model(images.normalised(part).to(device)).cpu() for part in images.pixels.split(500)]).numpy()


def main(config_path, run):
    study, run = json.loads(pathlib.Path(config_path).read_text()), pathlib.Path(run)
    config, params = study["config"], study.get("params", {})
    refuse_what_is_not_done(config, params)
    if study.get("threads"):
        torch.set_num_threads(study["threads"])
    if "RANK" in os.environ:  # torchrun
        torch.distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    world = torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1
    first = world == 1 or torch.distributed.get_rank() == 0
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if torch.cuda.is_available() else "cpu"

    pixels, labels, test_pixels, test_labels = load(study["data"], config.get("image_size", 32))
    subset = longtail.subset(labels, config["rho"], config["seed"], config["profile"], n_max=config["n_max"],
                             class_order=config.get("class_order", "label"), counts_file=config.get("counts_file", ""))
    chosen = torch.from_numpy(subset.indices.astype("int64"))
    scaled = pixels.double() / 255
    mean, deviation = [f(scaled, (0, 2, 3)).float().view(1, -1, 1, 1)
                       for f in (torch.mean, lambda x, d: torch.std(x, d, unbiased=False))]
    images, test = Images(pixels[chosen], labels[chosen], mean, deviation), Images(test_pixels, test_labels, mean, deviation)

    name = params.get("network", config["model"])
    network = make_network(name, len(subset.counts), pixels.shape[1], config["seed"]).to(device)
    initial = longtail.sha256(torch.cat([p.detach().cpu().flatten() for p in network.parameters()]).numpy())
    model = nn.parallel.DistributedDataParallel(network) if world > 1 else network
    optimizer = torch.optim.SGD(network.parameters(), config["lr"], config["momentum"], nesterov=config["nesterov"],
                                weight_decay=config["weight_decay"])
    sampler = make_sampler(config, subset.counts, world)  # the images are ordered class after class
    batches = longtail.BatchSampler(sampler, config["batch_size"] // world, drop_last=True)
    log = longtail.RunLog(run, study, subset.counts.tolist(), subset=subset.sha256, init=initial,
                          augment=augmentation_hash(config, world))

    state_path = run / "state.pt"
    if state_path.exists():
        state = torch.load(state_path, map_location="cpu")
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        batches.load_state_dict(state["sampler"])
        log.load_state_dict(state["log"])
    for epoch in range(log.epochs, config["epochs"]):
        lr = learning_rate(config, epoch)
        for group in optimizer.param_groups:
            group["lr"] = lr
        batches.set_epoch(epoch)
        loss, accuracy, class_accuracy = train_epoch(model, images, batches, optimizer, config, epoch, device)
        if sampler.feedback:
            sampler.update(class_accuracy)
        if first:
            log.epoch(loss, accuracy, lr, logits=predict(network, test, device), labels=test.labels.numpy(),
                      class_accuracy=class_accuracy if sampler.feedback else None)
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(),
                     "sampler": batches.state_dict(), "log": log.state_dict()}
            torch.save(state, run / "state.tmp")
            os.replace(run / "state.tmp", state_path)
            print(f"epoch {epoch + 1} of {config['epochs']}: loss {loss:.4f}, test {log.last['overall']:.2f} %", flush=True)
        if world > 1:
            torch.distributed.barrier()
    if first:
        log.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
