#!/usr/bin/env python3
"""Writes losses.json: values and gradients of every loss by PyTorch in double, from its published formula.

  make_losses.py OUT_FILE        (needs python3-torch)"""
import json, math, sys
import torch
import torch.nn.functional as F

COUNTS = [500, 120, 40, 11, 5, 3]
LOGITS = [[0.5, -2.0, 3.25, 0.0, 1.0, -0.75], [0.0] * 6, [6.0, -6.0, 1.0, 8.0, 2.0, 2.0], [-1.0, 2.0, -3.0, 0.25, 0.5, 0.0]]
COSINES = [[0.5, -0.25, 0.75, 0.0, 0.125, -0.875], [0.0] * 6, [-0.5, 0.25, 0.5, 0.625, -0.125, 0.0]]
N = torch.tensor(COUNTS, dtype=torch.double)


def effective(beta):
    return (1 - beta ** N) / (1 - beta)


def per_image(weights):
    return weights * N.sum() / (N * weights).sum()  # 1 in the mean over the images


def cross_entropy(z, y):
    return F.cross_entropy(z[None], torch.tensor([y]))


def weighted(weights):
    w = per_image(weights)
    return lambda z, y: w[y] * cross_entropy(z, y)


def ldam(max_margin=0.5, scale=30.0, weights=torch.ones(6, dtype=torch.double)):
    margins = 1 / N ** 0.25
    margins = margins * (max_margin / margins.max())
    w = per_image(weights)

    def loss(z, y):
        shifted = z - margins * F.one_hot(torch.tensor(y), len(COUNTS))
        return w[y] * cross_entropy(scale * shifted, y)
    return loss


def vs(tau, gamma):
    return lambda z, y: cross_entropy((N / N.max()) ** gamma * z + tau * torch.log(N / N.sum()), y)


def smoothing(epsilon):
    return lambda z, y: F.cross_entropy(z[None], torch.tensor([y]), label_smoothing=epsilon)


def label_aware(head, tail):
    part = (N - N.min()) / (N.max() - N.min())
    epsilon = tail + (head - tail) * torch.sin(part * math.pi / 2)

    def loss(z, y):
        log_p = F.log_softmax(z, 0)
        return (1 - epsilon[y]) * -log_p[y] + epsilon[y] * -log_p.mean()
    return loss


def focal(gamma):
    def loss(z, y):
        log_p = F.log_softmax(z, 0)[y]
        return -(1 - log_p.exp()) ** gamma * log_p
    return loss


LOSSES = {
    "cross_entropy": cross_entropy,
    "class_weighted": weighted(1 / N),
    "class_weighted:power=0.5": weighted(N ** -0.5),
    "class_weighted:beta=0.9999": weighted(1 / effective(0.9999)),
    "class_weighted:beta=0.99": weighted(1 / effective(0.99)),
    "logit_adjusted": vs(1, 0),
    "focal": focal(2),
    "vs": vs(0.75, 0.05),
    "vs:tau=1.25,gamma=0.15": vs(1.25, 0.15),
    "label_smoothing": smoothing(0.1),
    "label_smoothing:epsilon=0.3": smoothing(0.3),
    "label_aware_smoothing": label_aware(0.4, 0.1),
    "label_aware_smoothing:head=0.3,tail=0": label_aware(0.3, 0),
    "ldam": ldam(),
    "ldam:max_margin=0.25,scale=10": ldam(0.25, 10),
    "ldam:beta=0.9999": ldam(weights=1 / effective(0.9999)),
}


def main(out_file):
    cases = []
    for text, loss in LOSSES.items():
        for logits in COSINES if text.startswith("ldam") else LOGITS:
            for label in (0, 3, 5):
                z = torch.tensor(logits, dtype=torch.double, requires_grad=True)
                value = loss(z, label)
                value.backward()
                cases.append({"loss": text, "logits": logits, "label": label, "value": float(f"{value.item():.12g}"),
                              "gradient": [float(f"{g:.10g}") for g in z.grad.tolist()]})
    with open(out_file, "w") as out:
        out.write(json.dumps({"counts": COUNTS, "cases": []})[:-2] + "\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]}\n")


if __name__ == "__main__":
    main(sys.argv[1])
