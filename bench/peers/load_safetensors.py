#!/usr/bin/python3
"""Loads a network exported by `longtail export` into PyTorch's ResNet and measures it on CIFAR-100's test images.

  load_safetensors.py MODEL.safetensors CIFAR_100_PYTHON_DIR [LOG.json [best|last]]

Prints the accuracy that PyTorch computes in fp32. With the log of the run, also the accuracy that the log has, and
exits 1 if they differ by more than 0.05 points. Needs PyTorch (Debian: python3-torch), and no other package: the
safetensors format is an 8-byte length, a JSON header and the tensors one after the other."""
import json
import pickle
import struct
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

MEAN, STD = (0.5071, 0.4867, 0.4408), (0.2675, 0.2565, 0.2761)
TYPES = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8")}


def load_safetensors(path):
    """The tensors by name, and the metadata."""
    raw = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        values = np.frombuffer(raw[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors, metadata


class Pad(nn.Module):
    """The shortcut without parameters: every second pixel, zeros for the new channels."""

    def __init__(self, extra):
        super().__init__()
        self.extra = extra

    def forward(self, x):
        return F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.extra // 2, self.extra - self.extra // 2))


class Block(nn.Module):
    def __init__(self, cin, cout, stride, projection):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.shortcut = nn.Sequential()
        if stride != 1 or cin != cout:
            conv = nn.Conv2d(cin, cout, 1, stride, bias=False)
            self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(cout)) if projection else Pad(cout - cin)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


class ResNet(nn.Module):
    """CIFAR ResNet of 6 n + 2 layers, with the names of the paper's PyTorch code."""

    def __init__(self, depth=32, classes=100, channels=3, projection=True):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        cin = 16
        for stage, (cout, stride) in enumerate(((16, 1), (32, 2), (64, 2)), 1):
            blocks = []
            for b in range((depth - 2) // 6):
                blocks.append(Block(cin, cout, stride if b == 0 else 1, projection))
                cin = cout
            setattr(self, f"layer{stage}", nn.Sequential(*blocks))
        self.linear = nn.Linear(64, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.linear(x.mean((2, 3)))


def load_network(path):
    tensors, metadata = load_safetensors(path)
    net = ResNet(
        depth=int(metadata.get("model", "resnet32")[len("resnet") :]),
        classes=tensors["linear.weight"].shape[0],
        channels=tensors["conv1.weight"].shape[1],
        projection=metadata.get("shortcut", "projection") == "projection",
    )
    net.load_state_dict(tensors, strict=True)
    return net.eval()


def cifar100_test(folder):
    test = pickle.load(open(Path(folder) / "test", "rb"), encoding="latin1")
    images = torch.tensor(test["data"].reshape(-1, 3, 32, 32)).float() / 255
    images = (images - torch.tensor(MEAN).view(1, 3, 1, 1)) / torch.tensor(STD).view(1, 3, 1, 1)
    return images, torch.tensor(test["fine_labels"])


def main(model, cifar, log=None, which="best"):
    net = load_network(model)
    images, labels = cifar100_test(cifar)
    with torch.no_grad():
        right = sum(
            int((net(x).argmax(1) == y).sum()) for x, y in zip(images.split(500), labels.split(500))
        )
    accuracy = 100 * right / len(labels)
    print(f"PyTorch: {accuracy:.2f} % of {len(labels)} test images")
    if log is None:
        return 0
    expected = json.loads(Path(log).read_text())[which]["overall_acc"]
    print(f"the log: {expected:.2f} % at the {which} epoch; difference {accuracy - expected:+.2f} points")
    return 0 if abs(accuracy - expected) <= 0.05 else 1


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
