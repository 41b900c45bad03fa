#!/usr/bin/python3
"""How far is a gradient in fp32 from the same gradient in double? PyTorch in several settings, and our engines, against PyTorch
in double: ResNet-32, the golden batches of 128 CIFAR images, training mode.

  fp32_error.py GOLDEN_DIR CIFAR_100_PYTHON_DIR WEIGHTS.f32... [--build DIR] [--engines simd] [--batches 10] [--layers]

WEIGHTS are flat arrays (the golden init_seed42.f32, or what bench_cosine leaves). For every setting: the distance of the whole
gradient from that in double, relative to its length, in the first batch, the mean and the largest of all, and the smallest
cosine. --layers adds the part of the error by layer."""
import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from golden import golden_batches, network

# name: (threads, options of gradients)
SETTINGS = {
    "1 thread": (1, {}),
    "2 threads": (2, {}),
    "no mkldnn": (2, {"mkldnn": False}),
    "channels-last": (2, {"channels_last": True}),
    "its own order of images": (2, {"turned": True}),
}


def gradients(weights, batches, double=False, mkldnn=True, channels_last=False, turned=False):
    """[flat gradient of a batch], each from fresh running statistics; `turned`: the images of a batch in reverse."""
    net, result = network(weights), []
    if double:
        net = net.double()
    if channels_last:
        net = net.to(memory_format=torch.channels_last)
    with nullcontext() if mkldnn else torch.backends.mkldnn.flags(enabled=False):
        for images, labels in batches:
            if turned:
                images, labels = images.flip(0), labels.flip(0)
            images = images.double() if double else images
            if channels_last:
                images = images.to(memory_format=torch.channels_last)
            net.zero_grad()
            F.cross_entropy(net(images), labels).backward()
            result.append(torch.cat([p.grad.reshape(-1) for p in net.parameters()]).double().numpy().copy())
    return result


def ours(options, engine, weights, batches):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "gradients.f32"
        subprocess.run([options.build / "bench" / "bench_gradients", engine, options.golden, options.cifar, weights, out,
                        str(len(batches))], check=True)
        return list(np.fromfile(out, "<f4").astype(np.float64).reshape(len(batches), -1))


def row(name, actual, exact):
    distances = [np.linalg.norm(a - e) / np.linalg.norm(e) for a, e in zip(actual, exact)]
    cosines = [a @ e / np.linalg.norm(a) / np.linalg.norm(e) for a, e in zip(actual, exact)]
    cells = [name, f"{distances[0]:.1e}", f"{np.mean(distances):.1e}", f"{max(distances):.1e}", f"{1 - min(cosines):.1e}"]
    print("| " + " | ".join(cells) + " |", flush=True)


def layers(weights, actual, exact):
    """The error of each tensor of the first batch, relative to the length of that tensor's gradient."""
    at = 0
    for name, p in network(weights).named_parameters():
        part = slice(at, at + p.numel())
        at += p.numel()
        if p.dim() == 4:
            print(f"  {name:32} {np.linalg.norm((actual[0] - exact[0])[part]) / np.linalg.norm(exact[0][part]):.1e}")


def main(options):
    batches = golden_batches(options.golden, options.cifar)[:options.batches]
    for weights in options.weights:
        print(f"\n{Path(weights).stem}\n\n| against double | first batch | mean | largest | 1 - smallest cosine |")
        print("| --- " * 5 + "|")
        torch.set_num_threads(os.cpu_count())
        exact = gradients(weights, batches, double=True)
        for name, (threads, how) in SETTINGS.items():
            torch.set_num_threads(threads)
            row(f"PyTorch fp32, {name}", gradients(weights, batches, **how), exact)
        for engine in options.engines.split(",") if options.build else ():
            actual = ours(options, engine, weights, batches)
            row(f"`{engine}`", actual, exact)
            if options.layers:
                layers(weights, actual, exact)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden")
    parser.add_argument("cifar")
    parser.add_argument("weights", nargs="+")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--engines", default="simd")
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--layers", action="store_true")
    main(parser.parse_args())
