#!/usr/bin/env python3
"""Writes init_samples.json: what PyTorch's own initialisation gives for other seeds, models, classes, shortcuts and
channels than the full golden files hold. Of every network: the number of parameters, sums, and 64 spread values.

  make_init.py OUT_FILE        (needs python3-torch)"""
import json, sys
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, cin, cout, stride, pad):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.shortcut = nn.Sequential()
        if (stride != 1 or cin != cout) and not pad:
            self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))


class ResNet(nn.Module):
    def __init__(self, depth, classes, channels, pad):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        cin = 16
        for stage, (cout, stride) in enumerate(((16, 1), (32, 2), (64, 2)), 1):
            blocks = []
            for b in range((depth - 2) // 6):
                blocks.append(Block(cin, cout, stride if b == 0 else 1, pad))
                cin = cout
            setattr(self, f"layer{stage}", nn.Sequential(*blocks))
        self.linear = nn.Linear(64, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, 0, 0.01)
                nn.init.zeros_(m.bias)


def main(out_file):
    cases = []
    for seed, depth, classes, channels, pad in (
        (0, 32, 100, 3, False), (1, 20, 10, 3, False), (7, 44, 100, 3, True), (123, 56, 365, 3, False),
        (2**31, 110, 10, 1, False), (2**40 + 5, 20, 2, 1, True), (-3, 32, 1, 3, True), (4294967295, 32, 101, 3, False),
    ):
        torch.manual_seed(seed)
        net = ResNet(depth, classes, channels, pad)
        flat = torch.cat([p.detach().reshape(-1) for p in net.parameters()]).double()
        at = [round(i * (flat.numel() - 1) / 63) for i in range(64)]
        cases.append({"seed": seed, "model": f"resnet{depth}", "classes": classes, "channels": channels,
                      "shortcut": "pad" if pad else "projection", "parameters": flat.numel(),
                      "sum": float(flat.sum()), "absolute_sum": float(flat.abs().sum()),
                      "at": at, "values": [float(flat[i]) for i in at]})
    with open(out_file, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
