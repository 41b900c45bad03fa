#!/usr/bin/env python3
"""Writes steps.json: ten SGD steps of PyTorch on made-up images, with a learning rate small enough that rounding does
not grow (at 0.1, PyTorch on one and on two threads is a percent apart after ten steps). Each case says how far PyTorch
in double is from itself in float.

  make_steps.py OUT_FILE        (needs python3-torch)"""
import json, sys
import torch
import torch.nn.functional as F
from torch import nn
from make_init import ResNet

STEPS, BATCH, CLASSES = 10, 24, 10


def noise(count):
    """Numbers in [-2, 2): a linear congruential generator, the same in the C++ test."""
    state, values = 1, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state / 2**30 - 2)
    return values


def block_forward(b, x, pad):
    y = b.bn2(b.conv2(F.relu(b.bn1(b.conv1(x)))))
    skip = b.shortcut(x)
    if pad and x.shape[1] != y.shape[1]:
        extra = (y.shape[1] - x.shape[1]) // 2
        skip = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, extra, extra))
    return F.relu(y + skip)


def forward(net, x, pad):
    x = F.relu(net.bn1(net.conv1(x)))
    for stage in (net.layer1, net.layer2, net.layer3):
        for b in stage:
            x = block_forward(b, x, pad)
    return net.linear(x.mean((2, 3)))


def run(images, labels, channels, pad, nesterov, dtype):
    torch.manual_seed(42)
    net = ResNet(20, CLASSES, channels, pad).to(dtype).train()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.002, momentum=0.9, weight_decay=0.01, nesterov=nesterov)
    steps = []
    for i in range(STEPS):
        optimiser.zero_grad()
        part = slice(i * BATCH, (i + 1) * BATCH)
        loss = F.cross_entropy(forward(net, images[part].to(dtype), pad), labels[part])
        loss.backward()
        norm = float(nn.utils.clip_grad_norm_(net.parameters(), 0.5))
        optimiser.step()
        steps.append({"loss": float(loss), "grad_norm": norm})
    net.eval()
    with torch.no_grad():
        logits = forward(net, images[:BATCH].to(dtype), pad).reshape(-1).tolist()
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
