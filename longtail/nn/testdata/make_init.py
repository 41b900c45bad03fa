#!/usr/bin/env python3
"""Writes init_samples.json: what PyTorch's own initialisation gives for other seeds, models, classes, shortcuts and
channels than the full golden files hold, and for other widths. Of every network: the number of parameters, sums, and 64 spread values.

  make_init.py OUT_FILE        (needs python3-torch)"""
import json, sys
from pathlib import Path
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench" / "peers"))
from torch_resnet import ResNet


def main(out_file):
    cases = []
    for seed, depth, classes, channels, pad, width in (
        (0, 32, 100, 3, False, 1), (1, 20, 10, 3, False, 1), (7, 44, 100, 3, True, 1), (123, 56, 365, 3, False, 1),
        (2**31, 110, 10, 1, False, 1), (2**40 + 5, 20, 2, 1, True, 1), (-3, 32, 1, 3, True, 1),
        (4294967295, 32, 101, 3, False, 1), (42, 20, 10, 3, False, 2), (5, 32, 7, 1, True, 2), (42, 20, 100, 3, False, 4),
    ):
        torch.manual_seed(seed)
        net = ResNet(depth, classes, channels, not pad, width)
        flat = torch.cat([p.detach().reshape(-1) for p in net.parameters()]).double()
        at = [round(i * (flat.numel() - 1) / 63) for i in range(64)]
        cases.append({"seed": seed, "model": f"resnet{depth}", "classes": classes, "channels": channels,
                      "shortcut": "pad" if pad else "projection", "width": width, "parameters": flat.numel(),
                      "sum": float(flat.sum()), "absolute_sum": float(flat.abs().sum()),
                      "at": at, "values": [float(flat[i]) for i in at]})
    with open(out_file, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
