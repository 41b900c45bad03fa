#!/usr/bin/python3
"""What the field's second stages make of a network exported by `longtail export`, in PyTorch: where our figures for
`rebalance` and the published ones part. Two things differ in the code behind the published figures: its tau-normalisation
keeps the bias, and its cRT leaves batch norm in training mode, so that the features move with the class-balanced batches.

  second_stage.py MODEL.safetensors CIFAR_100_PYTHON_DIR SUBSET.txt [EPOCHS]

SUBSET.txt is what `longtail subset --out` writes. Prints overall, head, medium and tail accuracy (n > 100, n > 20, the
rest) of the last epoch. EPOCHS is 10; 0 leaves cRT out. Needs PyTorch (Debian: python3-torch)."""
import copy
import math
import pickle
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from load_safetensors import cifar100_test, load_network
from torch_resnet import normalised


def features_of(net, images):
    """What the classifier is given."""
    seen = []
    hook = net.linear.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].detach()))
    with torch.no_grad():
        for batch in images.split(500):
            net(batch)
    hook.remove()
    return torch.cat(seen)


def cropped(images, generator):
    """A random crop out of four pixels of padding, and a flip, each image its own."""
    padded = F.pad(images, (4, 4, 4, 4))
    out = torch.empty_like(images)
    for i in range(len(images)):
        y, x = (int(v) for v in torch.randint(0, 9, (2,), generator=generator))
        one = padded[i, :, y : y + 32, x : x + 32]
        out[i] = one.flip(2) if torch.rand(1, generator=generator) < 0.5 else one
    return out


class Judge:
    """Accuracy on the test images, by the class sizes of the training subset."""

    def __init__(self, cifar, counts):
        self.images, self.labels = cifar100_test(cifar)
        sizes = counts[self.labels]
        self.groups = [sizes >= 0, sizes > 100, (sizes > 20) & (sizes <= 100), sizes <= 20]

    def say(self, what, logits):
        right = logits.argmax(1) == self.labels
        print(f"{what:40}" + "".join(f"{100 * right[g].float().mean():8.1f}" for g in self.groups), flush=True)


def train_classifier(net, images, labels, counts, epochs, moving):
    """cRT: a fresh classifier on class-balanced draws, everything else frozen but, if `moving`, batch norm's statistics."""
    generator = torch.Generator().manual_seed(42)
    torch.manual_seed(42)
    net = copy.deepcopy(net)
    for parameter in net.parameters():
        parameter.requires_grad = False
    net.linear = torch.nn.Linear(net.linear.in_features, net.linear.out_features)
    optimizer = torch.optim.SGD(net.linear.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
    odds = 1 / counts[labels].double()
    for epoch in range(epochs):
        net.train(moving)
        optimizer.param_groups[0]["lr"] = 0.05 * (1 + math.cos(math.pi * epoch / epochs))
        for rows in torch.multinomial(odds, len(labels), replacement=True, generator=generator).split(128):
            loss = F.cross_entropy(net(cropped(images[rows], generator)), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return net.eval()


def main(model, cifar, subset, epochs=10):
    net = load_network(model)
    raw = pickle.load(open(Path(cifar) / "train", "rb"), encoding="latin1")
    rows = np.loadtxt(subset, dtype=int)
    labels = torch.tensor(raw["fine_labels"])[rows]
    counts = torch.bincount(labels, minlength=net.linear.out_features)
    judge = Judge(cifar, counts)
    print(f"{'':40}" + "".join(f"{name:>8}" for name in ("overall", "head", "medium", "tail")))
    features, weight, bias = features_of(net, judge.images), net.linear.weight.detach(), net.linear.bias.detach()
    unit = F.normalize(weight, dim=1)
    norms = weight.norm(dim=1)
    of_groups = [norms[counts > 100], norms[(counts > 20) & (counts <= 100)], norms[counts <= 20]]
    print("mean norm of a class's weights" + " " * 18 + "".join(f"{norm.mean():8.2f}" for norm in of_groups))
    judge.say("as it is", features @ weight.T + bias)
    judge.say("tau-normalised (tau = 1), no bias", features @ unit.T)
    judge.say("tau-normalised (tau = 1), bias kept", features @ unit.T + bias)
    if int(epochs) == 0:
        return
    images = normalised(raw["data"][rows].reshape(-1, 3, 32, 32))
    for moving in (False, True):
        trained = train_classifier(net, images, labels, counts, int(epochs), moving)
        logits = features_of(trained, judge.images) @ trained.linear.weight.detach().T + trained.linear.bias.detach()
        judge.say(f"cRT, batch norm {'in training mode' if moving else 'frozen'}", logits)


if __name__ == "__main__":
    if not 4 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
