#!/usr/bin/env python3
"""Writes steps.json: ten SGD steps of PyTorch on made-up images, with a learning rate small enough that rounding does
not grow (at 0.1, PyTorch on one and on two threads is a percent apart after ten steps). Each case says how far PyTorch
in double is from itself in float.

  make_steps.py OUT_FILE        (needs python3-torch)"""
import json, sys
from pathlib import Path
import torch
import torch.nn.functional as F
from torch import nn
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench" / "peers"))
from torch_resnet import ResNet

STEPS, BATCH, CLASSES = 10, 24, 10


def noise(count):
    """Numbers in [-2, 2): a linear congruential generator, the same in the C++ test."""
    state, values = 1, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state / 2**30 - 2)
    return values


def run(images, labels, channels, pad, nesterov, dtype):
    torch.manual_seed(42)
    net = ResNet(20, CLASSES, channels, not pad).to(dtype).train()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.002, momentum=0.9, weight_decay=0.01, nesterov=nesterov)
    steps = []
    for i in range(STEPS):
        optimiser.zero_grad()
        part = slice(i * BATCH, (i + 1) * BATCH)
        loss = F.cross_entropy(net(images[part].to(dtype)), labels[part])
        loss.backward()
        norm = float(nn.utils.clip_grad_norm_(net.parameters(), 0.5))
        optimiser.step()
        steps.append({"loss": float(loss), "grad_norm": norm})
    net.eval()
    with torch.no_grad():
        logits = net(images[:BATCH].to(dtype)).reshape(-1).tolist()
    return steps, logits


def main(out):
    torch.set_num_threads(1)
    cases = []
    for channels, pad, nesterov in ((3, False, True), (3, True, False), (1, False, False)):
        images = torch.tensor(noise(STEPS * BATCH * channels * 1024)).reshape(-1, channels, 32, 32)
        labels = torch.tensor([i % CLASSES for i in range(STEPS * BATCH)])
        steps, logits = run(images, labels, channels, pad, nesterov, torch.float32)
        exact, exact_logits = run(images, labels, channels, pad, nesterov, torch.float64)
        away = {"loss": max(abs(a["loss"] / b["loss"] - 1) for a, b in zip(exact, steps)),
                "grad_norm": max(abs(a["grad_norm"] / b["grad_norm"] - 1) for a, b in zip(exact, steps)),
                "logits": max(abs(a - b) for a, b in zip(exact_logits, logits))}
        cases.append({"channels": channels, "shortcut": "pad" if pad else "projection", "nesterov": nesterov,
                      "double_is_away": away, "steps": steps, "eval_logits": logits})
    with open(out, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
