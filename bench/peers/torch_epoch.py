#!/usr/bin/python3
"""One epoch of the paper's training in PyTorch, as its code runs it: CIFAR-100-LT through a DataLoader with two workers,
random crop and flip image by image, then the whole test set. Prints the seconds of training and of evaluation.

  torch_epoch.py CIFAR_100_PYTHON_DIR [RHO [THREADS [N_MAX]]]"""
import pickle
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from torch_resnet import MEAN, STD, ResNet


class Images(Dataset):
    def __init__(self, pixels, labels, augment):
        self.pixels, self.labels, self.augment = pixels.reshape(-1, 3, 32, 32), labels, augment
        self.mean, self.std = torch.tensor(MEAN).view(3, 1, 1), torch.tensor(STD).view(3, 1, 1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        x = torch.from_numpy(self.pixels[i])
        if self.augment:
            x = F.pad(x, (4, 4, 4, 4))
            top, left = torch.randint(0, 9, (2,)).tolist()
            x = x[:, top : top + 32, left : left + 32]
            if torch.rand(1) < 0.5:
                x = x.flip(2)
        return (x.float() / 255 - self.mean) / self.std, self.labels[i]


def subset(labels, rho, seed=42, classes=100, n_max=500):
    mu, rng, rows = rho ** (-1.0 / (classes - 1)), np.random.RandomState(seed), []
    for k in range(classes):
        of_class = np.where(labels == k)[0]
        rng.shuffle(of_class)
        rows += of_class[: max(int(n_max * mu**k), 1)].tolist()
    return rows


def load(folder, part):
    content = pickle.load(open(Path(folder) / part, "rb"), encoding="latin1")
    return content["data"], np.array(content["fine_labels"])


def main(folder, rho=100, threads=2, n_max=500):
    torch.set_num_threads(threads)
    torch.manual_seed(42)
    pixels, labels = load(folder, "train")
    rows = subset(labels, rho, n_max=n_max)
    train = DataLoader(Images(pixels[rows], labels[rows], True), 128, shuffle=True, num_workers=2, drop_last=True)
    test = DataLoader(Images(*load(folder, "test"), False), 128, num_workers=2)
    net = ResNet()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=2e-4, nesterov=True)
    start = time.perf_counter()
    net.train()
    for x, y in train:
        optimiser.zero_grad()
        F.cross_entropy(net(x), y).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
    trained = time.perf_counter()
    net.eval()
    with torch.no_grad():
        right = sum(int((net(x).argmax(1) == y).sum()) for x, y in test)
    done = time.perf_counter()
    print(f"{trained - start:.2f} {done - trained:.2f} {right}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
