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

from torch_resnet import ResNet


def ask_for_tiles():
    """Linux grants AMX tiles on request, which this PyTorch forgets: arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)."""
    ctypes.CDLL(None).syscall(158, 0x1023, 18)


def main(kind, batch, threads):
    if kind == "bf16":
        ask_for_tiles()
    torch.set_num_threads(threads)
    torch.manual_seed(42)
    net = ResNet()
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
