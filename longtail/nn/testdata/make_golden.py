#!/usr/bin/env python3
"""Writes golden.json: the first gradient of ResNet-32 on a batch of 128 made-up pictures, and ten SGD steps at the paper's learning
rate, by PyTorch in fp32. Of the gradient: the norm of every tensor and its products with four vectors of signs, which miss no
error that is spread over the tensor. `others` says how far PyTorch is from itself: in double, in channels-last order, without
its oneDNN. No engine that rounds in an order of its own can be nearer than these are.

  make_golden.py OUT_FILE        (needs python3-torch; a few minutes)"""
import json, sys
from contextlib import nullcontext
from pathlib import Path
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench" / "peers"))
from make_shapes import integers, signs
from torch_resnet import ResNet

SEED, CLASSES, BATCH, STEPS, SIGNS, LOGITS_STEP = 42, 100, 128, 10, 4, 97


def pictures():
    """Blobs of a colour of the class on a slope, with noise: an image has 3 planes of 32x32, and its numbers come one after
    the other from one generator: for each plane one for its slope, then one for each pixel."""
    count = STEPS * BATCH
    numbers = (integers(count * 3 * (1 + 1024), 1) / 2**31 - 1).reshape(count, 3, 1025)
    x = np.arange(1024) % 32 / 16 - 1
    y = np.arange(1024) // 32 / 16 - 1
    labels = np.arange(count) % CLASSES
    planes = []
    for channel in range(3):
        own = ((labels * (channel + 3)) % 7 - 3) / 2
        slope = numbers[:, channel, :1]
        planes.append(slope * x + own[:, None] * np.maximum(0, 1 - 2 * x * x - 2 * y * y) + 0.5 * numbers[:, channel, 1:])
    return torch.from_numpy(np.stack(planes, 1).astype(np.float32).reshape(count, 3, 32, 32)), torch.from_numpy(labels)


def run(images, labels, nesterov, steps, double=False, channels_last=False, mkldnn=True):
    torch.manual_seed(SEED)
    net = ResNet(32, CLASSES, 3, True)
    net, images = (net.double(), images.double()) if double else (net, images)
    if channels_last:
        net, images = net.to(memory_format=torch.channels_last), images.contiguous(memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=2e-4, nesterov=nesterov)
    result = {"steps": []}
    with nullcontext() if mkldnn else torch.backends.mkldnn.flags(enabled=False):
        for i in range(steps):
            part = slice(i * BATCH, (i + 1) * BATCH)
            optimiser.zero_grad()
            logits = net(images[part])
            loss = F.cross_entropy(logits, labels[part])
            loss.backward()
            if i == 0:
                result["gradient"] = [p.grad.double().reshape(-1).clone() for p in net.parameters()]
                result["logits"] = logits.detach().double().reshape(-1)
                result["buffers"] = torch.cat([b.double().reshape(-1) for b in net.buffers() if b.dim() > 0])
            norm = float(nn.utils.clip_grad_norm_(net.parameters(), 5.0))
            optimiser.step()
            result["steps"].append({"loss": float(loss), "grad_norm": norm})
    return result


def distance(a, b):
    a, b = torch.cat(a), torch.cat(b)
    return float((a - b).norm() / b.norm())


def main(out):
    torch.set_num_threads(1)
    images, labels = pictures()
    nesterov, plain = (run(images, labels, kind, STEPS) for kind in (True, False))
    settings = {"double": {"double": True}, "channels_last": {"channels_last": True}, "no_mkldnn": {"mkldnn": False}}
    others = {}
    for name, how in settings.items():
        other = run(images, labels, True, 3 if name == "double" else STEPS, **how)
        others[name] = {
            "gradient": distance(other["gradient"], nesterov["gradient"]),
            "logits": float((other["logits"] - nesterov["logits"]).abs().max()),
            "buffers": float((other["buffers"] - nesterov["buffers"]).abs().max()),
            "losses": [a["loss"] / b["loss"] - 1 for a, b in zip(other["steps"], nesterov["steps"])],
            "grad_norms": [a["grad_norm"] / b["grad_norm"] - 1 for a, b in zip(other["steps"], nesterov["steps"])],
        }
        print(name, json.dumps(others[name]), flush=True)
    gradient = nesterov["gradient"]
    golden = {
        "others": others, "nesterov": nesterov["steps"], "plain": plain["steps"],
        "norms": [float(g.norm()) for g in gradient],
        "products": [[float(g @ signs(len(g), s)) for s in range(SIGNS)] for g in gradient],
        "logits_step": LOGITS_STEP, "logits": nesterov["logits"][::LOGITS_STEP].tolist(),
        "buffers": [float(f"{b:.7g}") for b in nesterov["buffers"].tolist()],
    }
    Path(out).write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
