#!/usr/bin/env python3
"""Writes cosine.json: the cosine head in PyTorch. Initial weights of networks that have it; logits, loss (LDAM) and
gradients of a step, as make_shapes.py writes them; and a head alone with its gradients in double.

  make_cosine.py OUT_FILE        (needs python3-torch)"""
import json, sys
from pathlib import Path
import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench" / "peers"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from make_shapes import SIGNS, integers, signs
from torch_resnet import Cosine, ResNet

CLASSES = 7
COUNTS = [500, 200, 80, 30, 12, 6, 5]


def ldam(cosines, labels, max_margin=0.5, scale=30.0):
    margins = 1 / torch.tensor(COUNTS, dtype=cosines.dtype) ** 0.25
    margins = margins * (max_margin / margins.max())
    return F.cross_entropy(scale * (cosines - margins * F.one_hot(labels, CLASSES)), labels)


def initial():
    cases = []
    for seed, depth, classes, pad, width in ((42, 32, 100, False, 1), (7, 20, 10, True, 1), (3, 20, 5, False, 2)):
        torch.manual_seed(seed)
        net = ResNet(depth, classes, 3, not pad, width, cosine=True)
        flat = torch.cat([p.detach().reshape(-1) for p in net.parameters()]).double()
        head = flat.numel() - classes * 64 * width
        at = [round(i * (head - 1) / 15) for i in range(16)] + [head + round(i * (flat.numel() - head - 1) / 31) for i in range(32)]
        cases.append({"seed": seed, "model": f"resnet{depth}", "classes": classes, "shortcut": "pad" if pad else "projection",
                      "width": width, "parameters": flat.numel(), "at": at, "values": [float(f"{flat[i]:.9g}") for i in at]})
    return cases


def run(images, labels, dtype):
    torch.manual_seed(42)
    net = ResNet(20, CLASSES, 3, True, 1, cosine=True).to(dtype)
    with torch.no_grad():
        net.eval()
        logits = net(images.to(dtype)).double()
    net.train()
    loss = ldam(net(images.to(dtype)), labels)
    loss.backward()
    return float(loss), logits, [p.grad.double().reshape(-1) for p in net.parameters()]


def step():
    for start in range(1, 60):
        pixels = integers(3 * 16 * 16, start) / 2**30 - 2
        images, labels = torch.from_numpy(pixels).float().reshape(1, 3, 16, 16), torch.tensor([start % CLASSES])
        loss, logits, gradient = run(images, labels, torch.float32)
        _, _, exact = run(images, labels, torch.float64)
        away = (torch.cat(exact) - torch.cat(gradient)).norm() / torch.cat(exact).norm()
        if away < 2e-5:
            break
    return {"start": start, "double_is_away": float(away), "loss": loss, "logits": logits.reshape(-1).tolist(),
            "norm": float(torch.cat(gradient).norm()), "norms": [float(g.norm()) for g in gradient],
            "products": [[float(f"{g @ signs(g.numel(), s):.8g}") for s in range(SIGNS)] for g in gradient]}


def head():
    """Four images of 64 features; every value is a formula that head_test.cc has too."""
    weight = torch.tensor([[((c * 31 + f * 17) % 29 - 14) / 40 for f in range(64)] for c in range(CLASSES)]).double()
    x = torch.tensor([[((i * 13 + f * 7) % 19) / 19 for f in range(64)] for i in range(4)]).double()
    slopes = torch.tensor([[((i * 5 + c * 3) % 11 - 5) / 8 for c in range(CLASSES)] for i in range(4)]).double()
    module = Cosine(64, CLASSES).double()
    module.weight.data = weight
    x.requires_grad_()
    logits = module(x)
    logits.backward(slopes)
    return {"logits": logits.flatten().tolist(), "feature_gradient": x.grad.flatten().tolist()[::5],
            "weight_gradient": module.weight.grad.flatten().tolist()[::5]}


def main(out_file):
    with open(out_file, "w") as out:
        out.write("{" + ",\n".join(f'"{name}": {json.dumps(value)}' for name, value in
                                   (("initial", initial()), ("step", step()), ("head", head()))) + "}\n")


if __name__ == "__main__":
    main(sys.argv[1])
