#!/usr/bin/env python3
"""Writes mixing.json: mixup, CutMix and Remix in PyTorch from their published definitions, for given weights and boxes: pixels of the
mixed image, and loss and gradient of the two labels for given logits. Images, logits and class sizes are formulas that
mixing_test.cc has too.

  make_mixing.py OUT_FILE        (needs python3-torch)"""
import json, sys
import torch
import torch.nn.functional as F

SIDE, CLASSES = 16, 6
COUNTS = [500, 120, 40, 11, 5, 3]
LOGITS = [0.5, -2.0, 3.25, 0.0, 1.0, -0.75]


def image(start):
    values = [((start * 37 + i * 11) % 101 - 50) / 25 for i in range(3 * SIDE * SIDE)]
    return torch.tensor(values).reshape(3, SIDE, SIDE)


def remix_weight(weight, first, second, kappa=3.0, tau=0.5):
    if COUNTS[first] >= kappa * COUNTS[second] and weight < tau:
        return 0.0
    if COUNTS[second] >= kappa * COUNTS[first] and 1 - weight < tau:
        return 1.0
    return weight


def loss_of(weights, name):
    def one(z, y):
        if name == "logit_adjusted":
            n = torch.tensor(COUNTS, dtype=torch.double)
            z = z + torch.log(n / n.sum())
        if name == "focal":
            log_p = F.log_softmax(z, 0)[y]
            return -(1 - log_p.exp()) ** 2 * log_p
        return F.cross_entropy(z[None], torch.tensor([y]))
    weight, first, second = weights
    return lambda z: weight * one(z, first) + (1 - weight) * one(z, second)


def case(kind, weight, first, second, loss, box=None):
    a, b = image(first), image(second + 10)
    if kind == "cutmix":
        top, left, bottom, right = box
        mixed = a.clone()
        mixed[:, top:bottom, left:right] = b[:, top:bottom, left:right]
        label = 1 - (bottom - top) * (right - left) / SIDE**2
    else:
        mixed = weight * a + (1 - weight) * b
        label = remix_weight(weight, first, second) if kind == "remix" else weight
    z = torch.tensor(LOGITS, dtype=torch.double, requires_grad=True)
    value = loss_of((label, first, second), loss)(z)
    value.backward()
    return {"kind": kind, "weight": weight, "first": first, "second": second, "loss": loss, "box": box or [0, 0, 0, 0], "label": label,
            "pixels": [float(f"{v:.8g}") for v in mixed.flatten().tolist()[::53]],
            "value": float(f"{value.item():.12g}"), "gradient": [float(f"{g:.10g}") for g in z.grad.tolist()]}


def main(out_file):
    cases = [case("mixup", 0.75, 0, 3, "cross_entropy"), case("mixup", 0.125, 4, 4, "focal"), case("mixup", 1.0, 2, 5, "cross_entropy"),
             case("cutmix", 1.0, 1, 2, "logit_adjusted", [3, 0, 11, 9]), case("cutmix", 1.0, 5, 0, "cross_entropy", [0, 0, 16, 16]),
             case("remix", 0.25, 0, 5, "cross_entropy"), case("remix", 0.875, 5, 1, "cross_entropy"), case("remix", 0.625, 2, 3, "focal")]
    with open(out_file, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
