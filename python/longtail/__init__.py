"""Mini-batch sampling for data with few common and many rare classes.

>>> import longtail
>>> labels = [0] * 900 + [1] * 90 + [2] * 10
>>> sampler = longtail.Sampler(labels, strategy="progressive", epochs=90, seed=42)
>>> len(sampler), len(list(sampler)), sampler.epoch
(1000, 1000, 1)

Pass a `Sampler` to `torch.utils.data.DataLoader` as its `sampler`. See docs/python.md.
"""

from longtail._core import RunLog, Subset, __version__
from longtail._core import canonical_strategy, sha256, strategies
from longtail.functions import groups, initial_weights, probabilities, read_log, report, subset, theory
from longtail.sampler import BatchSampler, Sampler

__all__ = ["BatchSampler", "RunLog", "Sampler", "Subset", "__version__", "canonical_strategy", "groups", "initial_weights",
           "probabilities", "read_log", "report", "sha256", "strategies", "subset", "theory"]
