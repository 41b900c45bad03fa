#!/usr/bin/python3
"""Writes numpy_subsets.txt and numpy_random.txt beside this file: what NumPy itself makes of many seeds, ratios and
sizes, from the fine labels of CIFAR-100 (cifar100_fine_labels.u8, one byte an image)."""
import hashlib
from pathlib import Path
import numpy as np

here = Path(__file__).resolve().parent
labels = np.fromfile(here / "cifar100_fine_labels.u8", np.uint8)


def counts(profile, rho, n_max, classes=100):
    if profile == "step":
        return [n_max if k < classes // 2 else max(int(n_max / rho), 1) for k in range(classes)]
    mu = rho ** (-1.0 / (classes - 1))
    return [max(int(n_max * mu**k), 1) for k in range(classes)]


def text(profile, rho, n_max, seed):
    rng, chosen = np.random.RandomState(seed), []
    for k, n in enumerate(counts(profile, rho, n_max)):
        of_class = np.where(labels == k)[0]
        rng.shuffle(of_class)
        chosen += of_class[:n].tolist()
    return "".join(f"{i}\n" for i in chosen)


def main():
    cases = [("exp", rho, 500, seed) for rho in (10, 50, 100) for seed in (42, 123, 456)]
    rng = np.random.RandomState(2024)
    for profile in ("exp", "step"):
        for rho in (1, 2, 20, 200, 256, 500, 1e9):
            cases.append((profile, rho, 500, int(rng.randint(2**32, dtype=np.uint64))))
        for _ in range(40):
            cases.append((profile, round(float(np.exp(rng.uniform(0, 7))), 4), int(rng.randint(1, 501)),
                          int(rng.randint(2**32, dtype=np.uint64))))
    cases += [("exp", 100, 500, 0), ("exp", 100, 500, 2**32 - 1)]
    with open(here / "numpy_subsets.txt", "w") as out:
        out.write("# profile rho n_max seed sha256 of the indices, one per line; made by make_numpy_subsets.py\n")
        for case in cases:
            out.write(" ".join(map(str, case)) + " " + hashlib.sha256(text(*case).encode()).hexdigest() + "\n")
    with open(here / "numpy_random.txt", "w") as out:
        out.write("# seed, then np.random.RandomState(seed) shuffling 0 ... 16; made by make_numpy_subsets.py\n")
        for seed in (0, 1, 42, 123, 456, 65535, 2**31, 2**32 - 1):
            values = np.arange(17)
            np.random.RandomState(seed).shuffle(values)
            out.write(" ".join(map(str, [seed, *values])) + "\n")


main()
