#!/usr/bin/env python3
"""Writes shapes.json: a training step of PyTorch in fp32 on networks of other widths and images of other sides. Of every
case: loss, logits in evaluation mode, and of every parameter's gradient its norm and its products with four vectors of
signs, which miss no error that is spread over the tensor. `double_is_away` says how far PyTorch in double is from itself
in float: images are chosen so that it is next to nothing, as no activation is carried over the edge of a ReLU by rounding.

  make_shapes.py OUT_FILE        (needs python3-torch; a minute)"""
import json, sys
from pathlib import Path
import numpy as np
import torch
import torch.nn.functional as F
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench" / "peers"))
from torch_resnet import ResNet

SEED, CLASSES, SIGNS = 42, 7, 4


def integers(count, state):
    """A linear congruential generator, the same in the C++ test; the first k values give the next k."""
    values = np.array([(state * 1664525 + 1013904223) % 2**32], dtype=np.uint64)
    factor, term = 1664525, 1013904223
    while len(values) < count:
        values = np.concatenate([values, (values * np.uint64(factor) + np.uint64(term)) % np.uint64(2**32)])
        factor, term = factor * factor % 2**32, (factor * term + term) % 2**32
    return values[:count]


def signs(count, which):
    return torch.from_numpy(np.where(integers(count, which + 1) >> np.uint64(31), 1.0, -1.0))


def run(channels, pad, width, images, labels, dtype):
    torch.manual_seed(SEED)
    net = ResNet(20, CLASSES, channels, not pad, width).to(dtype)
    with torch.no_grad():
        net.eval()
        logits = net(images.to(dtype)).double()
    net.train()
    loss = F.cross_entropy(net(images.to(dtype)), labels)
    loss.backward()
    return float(loss), logits, [p.grad.double().reshape(-1) for p in net.parameters()]


def main(out):
    cases = []
    for side in (16, 48, 64, 96):
        for width in (1, 2, 4):
            channels, pad = (1 if side == 48 else 3), width == 2
            for start in range(1, 30):
                pixels = integers(channels * side * side, start) / 2**30 - 2
                images = torch.from_numpy(pixels).float().reshape(1, channels, side, side)
                labels = torch.tensor([start % CLASSES])
                loss, logits, gradient = run(channels, pad, width, images, labels, torch.float32)
                _, _, exact = run(channels, pad, width, images, labels, torch.float64)
                away = (torch.cat(exact) - torch.cat(gradient)).norm() / torch.cat(exact).norm()
                if away < 2e-5:
                    break
            cases.append({
                "side": side, "width": width, "channels": channels, "shortcut": "pad" if pad else "projection",
                "start": start, "double_is_away": float(away), "loss": loss, "logits": logits.reshape(-1).tolist(),
                "norm": float(torch.cat(gradient).norm()),
                "norms": [float(g.norm()) for g in gradient],
                "products": [[float(f"{g @ signs(g.numel(), s):.8g}") for s in range(SIGNS)] for g in gradient]})
            print(side, width, start, float(away), flush=True)
    with open(out, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
