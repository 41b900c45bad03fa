#!/usr/bin/python3
"""Writes torch_augment.txt beside this file: SHA-256 of the pixels that PyTorch makes of one image by padding, cropping,
flipping and normalising, as float32 in NCHW and as bfloat16 in NHWC, for several crops."""
import hashlib
from pathlib import Path
import torch
import torch.nn.functional as F

MEAN, STD = (0.5071, 0.4867, 0.4408), (0.2675, 0.2565, 0.2761)  # CIFAR-100


def sha(tensor):
    return hashlib.sha256(tensor.numpy().tobytes()).hexdigest()


def main():
    with open(Path(__file__).resolve().parent / "torch_augment.txt", "w") as out:
        out.write("# channels dx dy flip sha256(float32 NCHW) sha256(bfloat16 NHWC); made by make_torch_augment.py\n")
        for channels in (3, 1):
            size = channels * 32 * 32
            image = ((torch.arange(size) * 37 + torch.arange(size) // 11) % 256).to(torch.uint8).reshape(channels, 32, 32)
            mean, std = (torch.tensor(v[:channels]).view(-1, 1, 1) for v in (MEAN, STD))
            for dx, dy, flip in ((0, 0, 0), (4, 4, 0), (-4, -4, 1), (-4, 4, 0), (3, -2, 1), (0, 1, 1), (-1, 0, 0)):
                x = F.pad(image, (4, 4, 4, 4))[:, 4 + dy : 36 + dy, 4 + dx : 36 + dx]  # RandomCrop(32, padding=4)
                x = x.flip(2) if flip else x  # RandomHorizontalFlip
                x = x.float().div(255).sub(mean).div(std)  # ToTensor, Normalize
                half = x.permute(1, 2, 0).contiguous().bfloat16().view(torch.int16)
                out.write(f"{channels} {dx} {dy} {flip} {sha(x)} {sha(half)}\n")


main()
