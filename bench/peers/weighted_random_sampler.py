"""The paper's sampler: torch.utils.data.WeightedRandomSampler with one weight per image."""
import time

import torch
from torch.utils.data import WeightedRandomSampler


class Peer:
    def __init__(self, counts, probabilities):
        self.first = counts[0]
        self.images = sum(counts)
        per_image = torch.tensor([p / n for p, n in zip(probabilities, counts)], dtype=torch.double)
        self.weights = per_image.repeat_interleave(torch.tensor(counts))

    def sampler(self):
        """An epoch as a training loop sees it: the iterator of Python numbers. The weights are there already."""
        start = time.perf_counter()
        drawn = list(WeightedRandomSampler(self.weights, self.images, replacement=True))
        seconds = time.perf_counter() - start
        return seconds, sum(i < self.first for i in drawn) / self.images

    def multinomial(self):
        """Its kernel alone, without turning the tensor into Python numbers."""
        start = time.perf_counter()
        drawn = torch.multinomial(self.weights, self.images, True)
        seconds = time.perf_counter() - start
        return seconds, (drawn < self.first).double().mean().item()
