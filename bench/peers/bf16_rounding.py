#!/usr/bin/python3
"""What bf16 does to the gradient of ResNet-32, in PyTorch: the cosine between the fp32 gradient of the first golden batch and
the same with only some values rounded to bf16 (the arithmetic stays fp32), and with PyTorch's own bf16 autocast.

  bf16_rounding.py GOLDEN_DIR CIFAR_100_PYTHON_DIR [WEIGHTS ...]
  bf16_rounding.py GOLDEN_DIR CIFAR_100_PYTHON_DIR --deep

A column for each file of weights, by default GOLDEN_DIR/init_seed42.f32: flat floats (`longtail init`, bench_cosine) or a
`longtail export`ed .safetensors. One thread. Rounded forward, a value passes its gradient on unchanged. Images count
as activations; classifier, batch norm and loss stay as they are, as in the amx engine. --deep: fresh networks of several
depths and both shortcuts (seed 42, batch-norm scales and shifts moved by up to 0.2), the first three images.

PyTorch 1.13's bf16 kernels for AMX end with an illegal instruction on some machines: the script keeps its oneDNN to
AVX-512 (DNNL_MAX_CPU_ISA), unless you set that variable yourself."""
import os
import sys
from pathlib import Path

os.environ.setdefault("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16")

import torch
import torch.nn.functional as F

from golden import cosine, flat_gradient, golden_batches, network
from torch_resnet import ResNet


class Rounding(torch.autograd.Function):
    """The value rounded to bf16 in the forward pass, its gradient in the backward pass, or both."""

    @staticmethod
    def forward(context, x, forward, backward, noise):
        context.backward_too = backward
        if noise:
            x = x * (1 + noise * torch.randn_like(x))
        return x.bfloat16().float() if forward else x.clone()

    @staticmethod
    def backward(context, gradient):
        return (gradient.bfloat16().float() if context.backward_too else gradient), None, None, None


class Rounded:
    """The forward pass of a ResNet with places to round: weights, outputs of convolutions, activations, gradients."""

    def __init__(self, net, what, noise=0):
        self.net, self.what, self.noise = net, what, noise

    def pass_on(self, x, kind):
        return Rounding.apply(x, kind in self.what, "gradients" in self.what, self.noise)

    def convolve(self, module, x):
        weight = Rounding.apply(module.weight, "weights" in self.what, False, 0)
        return self.pass_on(F.conv2d(x, weight, None, module.stride, module.padding), "outputs")

    def unit(self, conv, norm, x):
        return norm(self.convolve(conv, x))

    def block(self, b, x):
        hidden = self.pass_on(F.relu(self.unit(b.conv1, b.bn1, x)), "activations")
        projected = len(list(b.shortcut.children())) == 2
        skip = self.unit(b.shortcut[0], b.shortcut[1], x) if projected else b.shortcut(x)
        return self.pass_on(F.relu(self.unit(b.conv2, b.bn2, hidden) + skip), "activations")

    def __call__(self, x):
        x = self.pass_on(x, "activations")
        x = self.pass_on(F.relu(self.unit(self.net.conv1, self.net.bn1, x)), "activations")
        for stage in (self.net.layer1, self.net.layer2, self.net.layer3):
            for block in stage:
                x = self.block(block, x)
        return self.net.linear(x.mean((2, 3)))


def gradient(net, batch, forward=None, autocast=False):
    net.zero_grad()
    images, labels = batch
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        logits = (forward or net)(images)
    F.cross_entropy(logits.float(), labels).backward()
    return flat_gradient(net)


ALL = ("weights", "outputs", "activations", "gradients")
ROWS = (
    ("weights only", ("weights",)),
    ("outputs of convolutions only", ("outputs",)),
    ("activations only", ("activations",)),
    ("gradients of both, nothing forward", ("gradients",)),
    ("all of these", ALL),
)


def column(path, batch):
    net = network(path)
    exact = gradient(net, batch)
    plain = cosine(gradient(net, batch, Rounded(net, ())), exact)
    assert plain > 1 - 1e-9, f"the pass without rounding is another network: cosine {plain}"
    cells = [cosine(gradient(net, batch, Rounded(net, what)), exact) for _, what in ROWS]
    cells.append(cosine(gradient(net, batch, autocast=True), exact))
    torch.manual_seed(1)
    rounded, shaken = (gradient(net, batch, Rounded(net, ALL, noise)) for noise in (0, 1e-6))
    cells.append(cosine(shaken, rounded))
    noise_only = gradient(net, batch, Rounded(net, (), 1e-6))
    cells.append(cosine(noise_only, exact))
    return cells


def fresh(depth, projection):
    torch.manual_seed(42)
    net = ResNet(depth, projection=projection)
    with torch.no_grad():
        for p in net.parameters():
            if p.dim() == 1:
                p += 0.2 * (2 * torch.rand_like(p) - 1)
    return net


def deep(batch):
    print("| depth, shortcut | all rounded | PyTorch's own bf16 autocast | all, with noise of 1e-6, against all |")
    print("| --- | --- | --- | --- |")
    for depth in (32, 56, 110):
        for projection in (True, False):
            net = fresh(depth, projection)
            exact, rounded = gradient(net, batch), gradient(net, batch, Rounded(net, ALL))
            cells = [cosine(rounded, exact), cosine(gradient(net, batch, autocast=True), exact)]
            cells.append(cosine(gradient(net, batch, Rounded(net, ALL, 1e-6)), rounded))
            name = f"{depth}, {'projection' if projection else 'pad'}"
            print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


def main(golden, cifar, *files):
    torch.set_num_threads(1)
    if files == ("--deep",):
        images, labels = golden_batches(golden, cifar)[0]
        return deep((images[:3], labels[:3]))
    files = files or (Path(golden) / "init_seed42.f32",)
    batch = golden_batches(golden, cifar)[0]
    columns = [column(path, batch) for path in files]
    names = [name for name, _ in ROWS]
    names += ["PyTorch's own bf16 autocast", "all, with noise of 1e-6, against all", "noise of 1e-6 alone, no rounding"]
    print("| rounded to bf16 | " + " | ".join(Path(path).name for path in files) + " |")
    print("| --- " * (1 + len(files)) + "|")
    for name, cells in zip(names, zip(*columns)):
        print(f"| {name} | " + " | ".join(f"{cell:.5f}" for cell in cells) + " |")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
