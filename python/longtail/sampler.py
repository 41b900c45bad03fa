"""Samplers for `torch.utils.data.DataLoader`, by duck type: torch is never imported here.

Which image is drawn is decided in C++, as a function of (seed, epoch, position). Only the position of a walk is kept here.
"""

import itertools
import operator
import sys

import numpy

from longtail import _core
from longtail.functions import INT, integers, whole

_BLOCK = 1 << 16  # draws made at a time


def _ceil(a, b):
    return -(-a // b)


class _Walk:
    """An epoch in progress. Its position is read from the list iterator, so that a draw costs no bookkeeping."""

    def __init__(self, epoch, start, first):
        self.epoch = epoch
        self.start = start  # position in the whole epoch, all ranks together, at which it began
        self.first = first  # this rank's first draw from there on
        self.end = first  # the draw after the current block
        self.rest = iter(())
        self.unit = 1  # draws per element of `rest`

    @property
    def drawn(self):
        return self.end - self.unit * operator.length_hint(self.rest) - self.first


class Sampler:
    """The draws of a strategy, epoch after epoch.

    `labels` is the class of every image. Or give `counts`, the number of images of every class, with the images ordered
    class after class; memory then does not grow with the images. `num_samples` is the draws per epoch (default: as many as
    images). `num_replicas` and `rank` are taken from torch.distributed if it is initialised; all ranks together have the same
    draws, whatever their number. `even=True` leaves out the last draws that do not fill all ranks. `batch_size`, the draws of
    a step on all ranks together, is for strategies that shape whole batches (`stratified`).

    >>> sampler = Sampler([0, 0, 0, 1], strategy="class_balanced", epochs=2, seed=7)
    >>> first = list(sampler)
    >>> sampler.set_epoch(0)
    >>> list(sampler) == first
    True
    >>> parts = [list(Sampler([0, 0, 0, 1], "class_balanced", 2, 7, num_replicas=2, rank=r)) for r in (0, 1)]
    >>> [parts[i % 2][i // 2] for i in range(4)] == first
    True
    """

    def __init__(self, labels=None, strategy="uniform", epochs=200, seed=42, num_samples=None, num_replicas=None,
                 rank=None, *, counts=None, even=False, batch_size=0):
        self._source = _core.Source(None if labels is None else integers(labels),
                                    None if counts is None else integers(counts), strategy,
                                    whole("epochs", epochs, 1, INT), whole("seed", seed, 0, 2**64 - 1),
                                    whole("batch_size", batch_size, 0, INT))
        self._total = self._source.images if num_samples is None else operator.index(num_samples)
        if self._total < 1:
            raise ValueError(f"`num_samples` is {num_samples}; it must be at least 1")
        if self._total < self._source.batch_size and self._source.shapes_batches:
            raise ValueError(f"a batch of {self._source.batch_size} is larger than an epoch of {self._total} draws, so "
                             f"{self._source.strategy} never has a whole one; give a smaller `batch_size`")
        if (num_replicas is None) != (rank is None):
            raise ValueError("give both `num_replicas` and `rank`, or neither")
        if num_replicas is not None and not 0 <= rank < num_replicas:
            raise ValueError(f"`rank` is {rank}; it must be from 0 to {num_replicas - 1}")
        self._given_ranks = None if rank is None else (operator.index(rank), operator.index(num_replicas))
        self._even = bool(even)
        self._epoch = 0
        self._start = 0  # position in the whole epoch, all ranks together, at which the next walk begins
        self._walk = None
        self._ended = None  # the walk that was read to its end, until the next one begins
        self._refuse_too_many()

    @property
    def strategy(self):
        """The canonical text of the strategy."""
        return self._source.strategy

    @property
    def counts(self):
        """Images of each class."""
        return self._source.counts

    @property
    def epoch(self):
        """The epoch in progress, or the next one."""
        return self._epoch

    @property
    def probabilities(self):
        """The probability of each class in this epoch."""
        return self._source.probabilities(self._epoch)

    @property
    def feedback(self):
        """What the accuracies given to `update` are measured on: "draws" of training, "held_out" images, or None if the
        strategy takes none."""
        return self._source.feedback

    def _ranks(self):
        if self._given_ranks is not None:
            return self._given_ranks
        distributed = sys.modules.get("torch.distributed")
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        return 0, 1

    def _length(self, ranks=None):
        rank, world = ranks or self._ranks()
        return self._total // world if self._even else max(0, _ceil(self._total - rank, world))

    def _first(self, start):
        """This rank's first draw at or after the position `start`."""
        rank, world = self._ranks()
        return max(0, _ceil(start - rank, world))

    def _even_rest(self, start):
        """Draws that every rank has from the position `start` on. The ranks may begin one draw apart (the position may come
        from another number of ranks), but must have equally many, or they would wait for each other for ever."""
        world = self._ranks()[1]
        return max(0, self._total // world - _ceil(start, world))

    def _stop(self, start):
        """Where this rank's draws end in a walk that begins at the position `start`."""
        return self._first(start) + self._even_rest(start) if self._even else self._length()

    def _refuse_too_many(self):
        if self._total > self._source.images and self._source.without_replacement(self._epoch):
            raise ValueError(f"{self._source.strategy} draws without replacement: at most {self._source.images} "
                             f"draws per epoch, not {self._total}")

    def __len__(self):
        return self._length()

    def _begin(self):
        if self._walk is not None:  # the last walk was abandoned, without a call of set_epoch
            self._epoch, self._start = self._epoch + 1, 0
        self._refuse_too_many()
        self._walk, self._ended = _Walk(self._epoch, self._start, self._first(self._start)), None
        return self._walk

    def _end(self, walk):
        if self._walk is walk:
            self._epoch, self._start, self._walk, self._ended = self._epoch + 1, 0, None, walk

    def __iter__(self):
        """The draws of this rank as Python integers. The next walk is the next epoch, unless set_epoch says otherwise."""
        # chain is C code; `yield from` would return to this code for every draw.
        return itertools.chain.from_iterable(self._blocks())

    def _blocks(self):
        # A walk begins only with its first draw: a DataLoader with workers makes two iterators and uses one.
        walk, ranks = self._begin(), self._ranks()
        stop = self._stop(walk.start)
        while walk.end < stop:
            block = self._source.list(walk.epoch, walk.end, min(_BLOCK, stop - walk.end), *ranks)
            walk.end += len(block)
            walk.rest = iter(block)
            yield walk.rest
        self._end(walk)

    def indices(self, first=0, count=None, out=None):
        """The draws first, first + 1, ... of this rank in this epoch as an array, whatever the position of the walk.

        >>> sampler = Sampler(counts=[10**9, 10**6], strategy="square_root")
        >>> sampler.indices(10**8, 3).dtype
        dtype('int64')
        """
        ranks = self._ranks()
        if out is not None and numpy.ndim(out) != 1:
            raise ValueError(f"`out` must have one dimension, not the shape {numpy.shape(out)}")
        left = self._length(ranks) - first
        count = (left if out is None else len(out)) if count is None else count
        if first < 0 or count > left:
            raise ValueError(f"{count} draws from {first} on are not in an epoch of {self._length(ranks)}")
        if out is None:
            out = numpy.empty(count, numpy.int64)
        elif len(out) != count:
            raise ValueError(f"`out` has room for {len(out)} draws, not {count}")
        self._source.fill(self._epoch, first, out, *ranks)
        return out

    def set_epoch(self, epoch):
        """Begins the epoch; if a state of this epoch was just loaded, its position is kept."""
        epoch = whole("epoch", epoch, 0, INT)
        self._ended = None
        if self._walk is None and epoch == self._epoch:
            return
        self._epoch, self._start, self._walk = epoch, 0, None

    def update(self, class_accuracy):
        """For strategies with feedback: the accuracy of each class in percent after an epoch, measured on training draws or
        held-out images, never on the test set. Call it once after every epoch; the next epoch is drawn with it."""
        self._source.update(numpy.asarray(class_accuracy, numpy.float64).tolist())

    def state_dict(self, consumed=None):
        """The position of the walk. A DataLoader with workers is ahead of training, perhaps at the end of the epoch: pass how
        many draws of this rank's epoch training has `consumed`. If the epoch was resumed at position p on another number of
        ranks, the draws before it count as p / ranks draws, rounded up.

        >>> sampler = Sampler(counts=[5, 5], seed=3)
        >>> walk = iter(sampler)
        >>> head = [next(walk) for _ in range(4)]
        >>> later = Sampler(counts=[5, 5], seed=3)
        >>> later.load_state_dict(sampler.state_dict())
        >>> list(later) == list(walk)
        True
        >>> sampler.state_dict(consumed=8)["position"], sampler.state_dict(consumed=10)["epoch"]
        (8, 1)
        """
        return self._state(consumed, 1)

    def _state(self, consumed, unit):
        """`state_dict`, where `consumed` counts `unit` draws at a time."""
        epoch, position = self._place(consumed, unit)
        return {"epoch": epoch, "position": position, "strategy": self._source.strategy, "seed": self._source.seed,
                "epochs": self._source.epochs, "num_samples": self._total, "batch_size": self._source.batch_size,
                "class_accuracy": self._source.class_accuracy}

    def _place(self, consumed, unit):
        """Epoch and position of a state; both are the same on all ranks that have drawn equally many."""
        # Between walks, `consumed` draws belong to the walk that ended; with none, the next epoch has not begun.
        walk = self._walk if self._walk is not None or not consumed else self._ended
        epoch, start = (self._epoch, self._start) if walk is None else (walk.epoch, walk.start)
        if consumed is not None:
            world = self._ranks()[1]
            drawn = unit * (operator.index(consumed) - _ceil(start, world * unit))
        elif walk is not None:
            drawn = walk.drawn
        else:
            return epoch, start
        if self._first(start) + drawn >= self._stop(start):
            return epoch + 1, 0
        return epoch, max(0, start + drawn * self._ranks()[1])

    def load_state_dict(self, state):
        """Continues where `state` was taken; the number of ranks may be different."""
        own = self.state_dict()
        for key in ("strategy", "seed", "epochs", "num_samples", "batch_size"):
            if state[key] != own[key]:
                raise ValueError(f"the state has `{key}` {state[key]!r}, this sampler has {own[key]!r}")
        self._source.forget()
        for accuracies in state["class_accuracy"]:
            self._source.update(accuracies)
        self._epoch, self._start, self._walk, self._ended = state["epoch"], state["position"], None, None

    def __getstate__(self):
        """The state for pickle and copy: a copy continues at the position of this sampler, as after `load_state_dict`. The
        walk stays with the iterator that it belongs to."""
        epoch, start = self._place(None, 1)
        read = self._walk is not None and self._walk.epoch != epoch
        return dict(self.__dict__, _epoch=epoch, _start=start, _walk=None, _ended=self._walk if read else self._ended)


class BatchSampler:
    """Lists of `batch_size` draws of a `Sampler`; with several ranks, that many draws per rank.

    With `drop_last` every rank has the same number of whole batches, and draws that do not fill a batch on all ranks are
    left out.

    >>> batches = BatchSampler(Sampler(counts=[6, 4], seed=1), batch_size=4, drop_last=True)
    >>> len(batches), [len(batch) for batch in batches]
    (2, [4, 4])
    """

    def __init__(self, sampler, batch_size, drop_last=False):
        self.sampler = sampler
        self.batch_size = operator.index(batch_size)
        self.drop_last = bool(drop_last)
        if self.batch_size < 1:
            raise ValueError(f"`batch_size` is {batch_size}; it must be at least 1")

    def _whole(self, start):
        """Whole batches that every rank has from the position `start` of the epoch on."""
        return self.sampler._even_rest(start) // self.batch_size

    def _stop(self, start):
        """Where this rank's draws for batches end in a walk that begins at the position `start`."""
        if not self.drop_last:
            return self.sampler._stop(start)
        return self.sampler._first(start) + self._whole(start) * self.batch_size

    def __len__(self):
        return _ceil(self._stop(0), self.batch_size)

    def __iter__(self):
        return itertools.chain.from_iterable(self._blocks())

    def _blocks(self):
        walk, size = self.sampler._begin(), self.batch_size
        stop, source, ranks = self._stop(walk.start), self.sampler._source, self.sampler._ranks()
        walk.unit = size
        while walk.end + size <= stop:
            count = min(max(1, _BLOCK // size), (stop - walk.end) // size)
            batches = source.batches(walk.epoch, walk.end, count, size, *ranks)
            walk.end += count * size
            walk.rest = iter(batches)
            yield walk.rest
        if walk.end < stop:
            last = source.list(walk.epoch, walk.end, stop - walk.end, *ranks)
            walk.end, walk.rest = stop, iter(())
            yield (last,)
        self.sampler._end(walk)

    @property
    def epoch(self):
        """The epoch in progress, or the next one."""
        return self.sampler.epoch

    def set_epoch(self, epoch):
        """As `Sampler.set_epoch`."""
        self.sampler.set_epoch(epoch)

    def state_dict(self, consumed=None):
        """As `Sampler.state_dict`, but `consumed` counts batches. If the epoch was resumed on another number of ranks, the
        draws before it count as the batches that they would fill or begin here."""
        state = self.sampler._state(consumed, self.batch_size)
        if self.drop_last and state["position"] and self._whole(state["position"]) == 0:
            state["epoch"], state["position"] = state["epoch"] + 1, 0
        return state

    def load_state_dict(self, state):
        """As `Sampler.load_state_dict`."""
        self.sampler.load_state_dict(state)
