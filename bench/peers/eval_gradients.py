#!/usr/bin/python3
"""Golden data for the gradient probe, by PyTorch: per-image gradients of ResNet-32 in eval() mode, in double precision
(in single, an activation near zero may fall on either side of the ReLU, and moves a gradient by a thousandth).

  bench/peers/eval_gradients.py longtail/theory/testdata
  bench/peers/eval_gradients.py --bf16    how far PyTorch's own bf16 and fp32 are from it, image by image; writes nothing

Writes eval_buffers.f32 (running statistics, little-endian) and eval_gradients.json. Everything else that the test
needs follows from rules that are repeated there: the initial weights of seed 42, batch-norm scales and shifts moved
by 0.1 sin(i) (i: index in the flat array), images of random bytes from a linear congruential generator, image i with
label 17 i mod 100, and 32 directions of random signs that gradients are projected on: direction j has -1 at parameter
i where bit j of hash(i) is set. The mean square of the projections of a difference estimates its squared length."""
import copy, json, os, sys
from pathlib import Path

# The bf16 kernels of PyTorch 1.13 for AMX end with an illegal instruction on some machines.
if "--bf16" in sys.argv:
    os.environ.setdefault("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16")

import numpy as np, torch
import torch.nn.functional as F
from bf16_rounding import ALL, Rounded
from torch_resnet import ResNet, normalised

IMAGES = 6


def random_bytes(count, state=12345):
    out = np.empty(count, np.uint8)
    for i in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        out[i] = state >> 24
    return out


def directions(count):
    """32 x count signs: the bits of MurmurHash3's finaliser of 0, 1, 2, ..."""
    h = np.arange(count, dtype=np.uint32)
    with np.errstate(over="ignore"):
        h ^= h >> np.uint32(16)
        h *= np.uint32(0x85EBCA6B)
        h ^= h >> np.uint32(13)
        h *= np.uint32(0xC2B2AE35)
        h ^= h >> np.uint32(16)
    return np.stack([1.0 - 2.0 * ((h >> np.uint32(j)) & np.uint32(1)) for j in range(32)])


def settled_network():
    """The network of the golden data in evaluation mode, its images and labels."""
    torch.set_num_threads(1)
    torch.manual_seed(42)
    net = ResNet()
    offset = 0
    for name, p in net.named_parameters():
        if p.dim() == 1 and not name.startswith("linear"):  # scale or shift of a batch norm
            i = np.arange(offset, offset + p.numel(), dtype=np.float64)
            with torch.no_grad():
                p += torch.tensor((0.1 * np.sin(i)).astype(np.float32))
        offset += p.numel()

    pixels = random_bytes(IMAGES * 3072).reshape(IMAGES, 3, 32, 32)
    x = normalised(pixels)
    y = torch.tensor([17 * i % 100 for i in range(IMAGES)])
    net.train()
    with torch.no_grad():
        for _ in range(30):
            net(x)
    return net.eval(), x, y


def image_gradients(net, x, y, autocast=False):
    """Loss and gradient of every image, the gradient as a list of a flat array a tensor, in double."""
    for i in range(len(y)):
        net.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            logits = net(x[i : i + 1])
        loss = F.cross_entropy(logits if not autocast else logits.float(), y[i : i + 1])
        loss.backward()
        yield float(loss), [p.grad.reshape(-1).double().clone().numpy() for p in net.parameters()]


def compare(name, gradients, exact):
    norms, errors, parts, sums = [], [], [], [0, 0]
    for (_, a), (_, b) in zip(gradients, exact):
        g, e = np.concatenate(a), np.concatenate(b)
        norms.append(g @ g / (e @ e) - 1)
        errors.append(np.linalg.norm(g - e) / np.linalg.norm(e))
        parts += [p @ p / (q @ q) - 1 for p, q in zip(a, b)]
        sums = [sums[0] + g, sums[1] + e]
    mean = np.linalg.norm(sums[0] - sums[1]) / np.linalg.norm(sums[1])
    parts = np.abs(parts)
    cells = [max(map(abs, norms)), max(errors), float(np.mean(errors)), mean, np.median(parts), parts.max()]
    print(f"| {name} | " + " | ".join(f"{100 * c:.2g}%" for c in cells) + " |", flush=True)


def compare_precisions():
    net, x, y = settled_network()
    exact = list(image_gradients(copy.deepcopy(net).double(), x.double(), y))
    print("| against double | squared norm, largest | error, largest | error, mean | error of the mean | a tensor's squared norm, median | largest |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    compare("PyTorch fp32", image_gradients(net, x, y), exact)
    compare("PyTorch bf16 autocast", image_gradients(net, x, y, autocast=True), exact)
    rounded = Rounded(net, ALL)
    rounded.parameters, rounded.zero_grad = net.parameters, net.zero_grad
    compare("PyTorch, everything rounded to bf16", image_gradients(rounded, x, y), exact)


def main(out):
    net, x, y = settled_network()
    buffers = [b.reshape(-1) for b in net.buffers() if b.dtype == torch.float32]
    torch.cat(buffers).numpy().astype("<f4").tofile(out / "eval_buffers.f32")

    offset = sum(p.numel() for p in net.parameters())
    signs = directions(offset)
    images, mean = [], np.zeros(offset)
    for loss, parts in image_gradients(net.double(), x.double(), y):
        g = np.concatenate(parts)
        mean += g / IMAGES
        images.append({"loss": loss, "norm2": float(g @ g), "projections": [float(v) for v in signs @ g],
                       "parts_norm2": [float(part @ part) for part in parts]})
    golden = {"parameters": offset, "names": [n for n, _ in net.named_parameters()], "images": images,
              "mean": {"norm2": float(mean @ mean), "projections": [float(v) for v in signs @ mean]}}
    (out / "eval_gradients.json").write_text(json.dumps(golden, indent=0) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    compare_precisions() if sys.argv[1] == "--bf16" else main(Path(sys.argv[1]))
