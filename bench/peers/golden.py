"""The golden batches and weights for the scripts here: ten batches of 128 images of CIFAR-100-LT (rho = 100, seed 42), and
networks from flat arrays of floats (`longtail init`, bench_cosine, the golden init_seed42.f32) or from `longtail export`."""
import pickle
from pathlib import Path

import numpy as np
import torch

from load_safetensors import load_network
from torch_resnet import ResNet, normalised

BATCH = 128


def golden_batches(golden, cifar):
    """[(images, labels)] of the ten golden steps."""
    rows = np.fromfile(Path(golden) / "steps_rows.i32", "<i4")
    train = pickle.load(open(Path(cifar) / "train", "rb"), encoding="latin1")
    images = normalised(train["data"][rows].reshape(-1, 3, 32, 32))
    labels = torch.tensor(np.array(train["fine_labels"])[rows])
    return list(zip(images.split(BATCH), labels.split(BATCH)))


def network(path):
    """A ResNet-32 in training mode with the weights of a file."""
    if str(path).endswith(".safetensors"):
        return load_network(path).train()
    net = ResNet()
    values = torch.from_numpy(np.fromfile(path, "<f4"))
    if len(values) != sum(p.numel() for p in net.parameters()):
        raise SystemExit(f"{path} has {len(values)} floats, which are not the parameters of ResNet-32 with 100 classes")
    torch.nn.utils.vector_to_parameters(values, net.parameters())
    return net


def flat_gradient(net):
    return torch.cat([p.grad.reshape(-1) for p in net.parameters()]).double()


def cosine(a, b):
    return float(a @ b / (a.norm() * b.norm()))
