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

from torch_resnet import ResNet, normalised

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


def load_network(path):
    tensors, metadata = load_safetensors(path)
    net = ResNet(
        depth=int(metadata.get("model", "resnet32")[len("resnet") :]),
        classes=tensors["linear.weight"].shape[0],
        channels=tensors["conv1.weight"].shape[1],
        projection=metadata.get("shortcut", "projection") == "projection",
        width=tensors["conv1.weight"].shape[0] // 16,
        cosine=metadata.get("head") == "cosine",
    )
    net.load_state_dict(tensors, strict=True)
    return net.eval()


def cifar100_test(folder):
    test = pickle.load(open(Path(folder) / "test", "rb"), encoding="latin1")
    return normalised(test["data"].reshape(-1, 3, 32, 32)), torch.tensor(test["fine_labels"])


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
