#!/usr/bin/env python3
"""PyTorch as a contender of bench/compare_training, with the protocol of bench_training.cc.

  torch_training.py fp32|bf16 BATCH THREADS

fp32 is the paper's code as it stands; bf16 is autocast in channels-last order, PyTorch's fastest on this kind of CPU."""
import ctypes
import resource
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.shortcut = nn.Sequential()
        if stride != 1 or cin != cout:
            self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


class ResNet32(nn.Module):
    def __init__(self, classes=100):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        blocks, cin = [], 16
        for cout, stride in ((16, 1), (32, 2), (64, 2)):
            for b in range(5):
                blocks.append(Block(cin, cout, stride if b == 0 else 1))
                cin = cout
        self.blocks = nn.Sequential(*blocks)
        self.linear = nn.Linear(64, classes)

    def forward(self, x):
        x = self.blocks(F.relu(self.bn1(self.conv1(x))))
        return self.linear(F.adaptive_avg_pool2d(x, 1).flatten(1))


def ask_for_tiles():
    """Linux grants AMX tiles on request, which this PyTorch forgets: arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)."""
    ctypes.CDLL(None).syscall(158, 0x1023, 18)


def main(kind, batch, threads):
    if kind == "bf16":
        ask_for_tiles()
    torch.set_num_threads(threads)
    torch.manual_seed(42)
    net = ResNet32()
    images, labels = torch.rand(batch, 3, 32, 32) * 4 - 2, torch.arange(batch) % 100
    if kind == "bf16":
        net, images = (t.to(memory_format=torch.channels_last) for t in (net, images))
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=2e-4, nesterov=True)
    autocast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=kind == "bf16")

    def train():
        net.train()
        optimiser.zero_grad()
        with autocast:
            loss = F.cross_entropy(net(images), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()

    def predict():
        net.eval()
        with torch.no_grad(), autocast:
            net(images)

    print("ready", flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "memory":
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)
            continue
        step = train if words[0] == "train" else predict
        start = time.perf_counter()
        for _ in range(int(words[1])):
            step()
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
