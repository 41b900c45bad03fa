#!/usr/bin/env python3
"""Writes rebalance.json: classifiers made anew by PyTorch in double, from the published formulas (crt, lws, tau-normalisation
and nearest class mean of Kang et al., 2020; post-hoc logit adjustment of Menon et al., 2021). The features and the classifier
they start from are formulas that classifier_stage_test.cc has too.

  make_rebalance.py OUT_FILE        (needs python3-torch)"""
import json, sys
import torch
import torch.nn.functional as F

CLASSES, WIDTH, IMAGES = 5, 64, 20
COUNTS = [50, 20, 10, 4, 2]
STEPS = [(0, 8, 0.1), (8, 16, 0.08), (12, 20, 0.05)]  # first image, last, learning rate
STEP = 7  # of the 320 weights, every seventh is kept


def table(rows, columns, formula):
    values = [[formula(r, c) for c in range(columns)] for r in range(rows)]
    return torch.tensor(values, dtype=torch.float32).double()


TRAINED = table(CLASSES, WIDTH, lambda k, f: ((k * 31 + f * 17) % 29 - 14) / 40 * (1 + 4 / (k + 1)))
BIAS = torch.tensor([(k - 2) / 10 for k in range(CLASSES)], dtype=torch.float32).double()
INITIAL = table(CLASSES, WIDTH, lambda k, f: ((k * 7 + f * 5) % 23 - 11) / 100)
X = table(IMAGES, WIDTH, lambda i, f: ((i * 13 + f * 7) % 19) / 19 * (1 + (i % 5 == f % 5)))
Y = torch.tensor([i % CLASSES for i in range(IMAGES)])


def train(parameters, logits):
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=2e-4, nesterov=True)
    losses = []
    for first, last, lr in STEPS:
        optimizer.param_groups[0]["lr"] = lr
        loss = F.cross_entropy(logits(X[first:last]), Y[first:last])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def normalised(tau):
    return TRAINED / TRAINED.norm(dim=1, keepdim=True) ** tau


def prior():
    n = torch.tensor(COUNTS, dtype=torch.double)
    return torch.log(n / n.sum())


def balanced(logits):
    hits = (logits.argmax(1) == Y).double()
    return torch.stack([hits[Y == k].mean() for k in range(CLASSES)]).mean().item()


def chosen(score):
    taus = [step / 10 for step in range(21)]
    scores = [score(tau) for tau in taus]
    return taus[scores.index(max(scores))]


def sampled(weights):
    return [float(f"{v:.9g}") for v in weights.flatten().tolist()[::STEP]]


def listed(values):
    return [float(f"{v:.9g}") for v in values]


def main(out_file):
    weight, bias = INITIAL.clone().requires_grad_(), torch.zeros(CLASSES, dtype=torch.double, requires_grad=True)
    crt_losses = train([weight, bias], lambda x: x @ weight.T + bias)
    scales = torch.ones(CLASSES, dtype=torch.double, requires_grad=True)
    lws_losses = train([scales], lambda x: (x @ TRAINED.T + BIAS) * scales)
    means = torch.stack([X[Y == k].mean(0) for k in range(CLASSES)])
    result = {
        "crt": {"losses": listed(crt_losses), "weight": sampled(weight.detach()), "bias": listed(bias.tolist())},
        "lws": {"losses": listed(lws_losses), "scales": listed(scales.tolist())},
        "tau_norm": {"weight": sampled(normalised(0.7)), "chosen": chosen(lambda tau: balanced(X @ normalised(tau).T))},
        "logit_adjust": {"bias": listed((BIAS - prior()).tolist()),
                         "chosen": chosen(lambda tau: balanced(X @ TRAINED.T + BIAS - tau * prior()))},
        "ncm_cosine": {"weight": sampled(means / means.norm(dim=1, keepdim=True))},
        "ncm_euclidean": {"weight": sampled(2 * means), "bias": listed((-(means ** 2).sum(1)).tolist())},
    }
    with open(out_file, "w") as out:
        out.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in result.items()) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
