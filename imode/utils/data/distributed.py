"""The share of one of several processes in a dataset."""

import math

from imode import Generator, ops

from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler):
    """Every `num_replicas`-th index, from `rank` on: of a new permutation for each epoch.

    The number of indices is the same for each rank: some samples come twice, or with `drop_last`
    some are left out. The order is PyTorch's for the same seed: call `set_epoch(i)` before each
    epoch. Without the two numbers, `imode.distributed` is asked. ValueError for a rank that is too
    large.

    >>> sampler = imode.utils.data.DistributedSampler(range(5), 2, rank=1, shuffle=False)
    >>> list(sampler)
    [1, 3, 0]
    """

    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False
    ):
        if num_replicas is None:
            num_replicas = _world().get_world_size()
        if rank is None:
            rank = _world().get_rank()
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        size = len(dataset)
        self.num_samples = size // num_replicas if drop_last else math.ceil(size / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        size = len(self.dataset)
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = ops.randperm(size, generator=generator).tolist()
        else:
            indices = list(range(size))
        if size:
            indices *= math.ceil(self.total_size / size)
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Set the number from which, with the seed, the order follows."""
        self.epoch = epoch


def _world():
    from imode import distributed

    if not distributed.is_available():
        raise RuntimeError(
            "Requires distributed package to be available\nGive num_replicas and rank."
        )
    return distributed
