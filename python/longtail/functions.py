"""The functions of the package: thin wrappers of the C++ library, with examples that are run as tests."""

import operator
import os

import numpy

from longtail import _core

INT = 2**31 - 1  # the largest value of the C++ type that counts epochs, classes and batches


def integers(values):
    """An array of whole numbers from a list, an array or a tensor of one dimension; others are refused, not truncated."""
    array = numpy.asarray(values)
    if array.size and not numpy.issubdtype(array.dtype, numpy.integer):
        raise TypeError(f"whole numbers are needed, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"a list of whole numbers is needed, not an array of the shape {array.shape}")
    return array


def whole(name, value, low, high):
    """A whole number that C++ can hold; one out of range is a ValueError, not a TypeError."""
    number = operator.index(value)
    if not low <= number <= high:
        raise ValueError(f"`{name}` is {number}; it must be from {low} to {high}")
    return number


def subset(labels, rho=100.0, seed=42, profile="exp", *, n_max=0, class_order="label", counts_file="", classes=0):
    """The long-tailed subset of a data set: the same images as `longtail subset` takes for the seed.

    >>> labels = [i % 3 for i in range(300)]
    >>> made = subset(labels, rho=10, seed=1)
    >>> made.counts.tolist(), len(made)
    ([100, 31, 10], 141)
    >>> sorted({labels[i] for i in made.indices[:100]})
    [0]
    """
    return _core.subset(integers(labels), rho, whole("seed", seed, 0, 2**32 - 1), profile, whole("n_max", n_max, 0, INT),
                        class_order, os.fspath(counts_file), whole("classes", classes, 0, 2**24 + 1))


def groups(counts, definition="paper"):
    """`head`, `medium` or `tail` for each class, by its number of training images; None for a class without images, which is
    in no group.

    >>> groups([500, 101, 100, 21, 20, 1, 0])
    ['head', 'head', 'medium', 'medium', 'tail', 'tail', None]
    """
    return _core.groups(integers(counts), definition)


def probabilities(counts, strategy, epoch=0, epochs=200):
    """The probability of each class at an epoch.

    >>> probabilities([90, 10], "uniform").tolist()
    [0.9, 0.1]
    >>> probabilities([90, 10], "progressive", epoch=199).tolist()
    [0.5, 0.5]
    """
    return _core.probabilities(integers(counts), strategy, whole("epoch", epoch, 0, INT), whole("epochs", epochs, 1, INT))


def initial_weights(model="resnet32", classes=100, seed=42, *, shortcut="projection", channels=3, width=1):
    """The initial weights with which `longtail train` begins for the seed: one float32 array in the order of PyTorch's
    `parameters()`, for `torch.nn.utils.vector_to_parameters`. They are the weights that PyTorch itself draws for the seed,
    except for the last bits, in which PyTorch differs from one CPU to another.

    >>> initial_weights("resnet32", classes=100, seed=42).shape
    (472756,)
    """
    return _core.initial_weights(model, whole("classes", classes, 1, INT), whole("seed", seed, -2**63, 2**63 - 1), shortcut,
                                 whole("channels", channels, 1, INT), whole("width", width, 1, INT))


def theory(counts, strategy, epoch=0, epochs=200, *, batch_size=128, sigma2=1.0, norm2=1.0):
    """What class sizes alone say about a strategy: weights, chance of absence, variance ratios (docs/theory.md).

    >>> told = theory([500, 5], "class_balanced", batch_size=128)
    >>> round(told["lambda"], 3), told["classes"][1]["expected"]
    (1.0, 64.0)
    """
    return _core.theory(integers(counts), strategy, whole("epoch", epoch, 0, INT), whole("epochs", epochs, 1, INT),
                        whole("batch_size", batch_size, 1, INT), sigma2, norm2)


def read_log(path):
    """A run log (docs/log.md) as a dictionary; `path` is the file or the folder of the run. A ValueError names a wrong key."""
    return _core.read_log(path)


def report(paths, out=None, *, baseline="", goal="", at="best", select="log", epochs=None, std="population",
           against=None, names=None, tables_only=False):
    """The report of logs, folders of logs or study folders (docs/report.md), with the options of `longtail report`.

    Returns `recommendation` and `findings` (as `longtail report --json`), `tables` (id -> caption, notes and rows, each a
    dictionary by column title), `text` (the answer in words) and `remarks`. With `out` the page, figures and tables are also
    written there. `goal` says what "best" means: `balanced`, `overall`, `tail` or `worst`; if empty, the goal of the race in a
    folder of `longtail recommend`, otherwise `balanced`. `epochs` is a number or "all". `names` maps a series, as written in
    the tables, to the name it is shown with.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return _core.report(list(paths), out, baseline=baseline, goal=goal, at=at, select=select,
                        epochs="" if epochs is None else str(epochs), deviation=std, against=against or "",
                        names=dict(names or {}), tables_only=tables_only)
