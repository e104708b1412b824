# SPDX-License-Identifier: Apache-2.0
"""Steps over clips of drawn sizes from a bank, which is refilled after every few of them."""

import random

from latent_bank import Bucket, shares
from training import Optimiser, Step, rate_at


class BucketFeed:
    """A stage says in `draw` what a step of a size is, and keeps one Step for each kind of them in `_steps`."""

    rate, flat = 1e-3, 0.5  # the highest rate, and the share of the stage that it holds for

    def __init__(self, bank, optimiser: Optimiser, seed: int, options):
        self._bank, self._optimiser, self._options = bank, optimiser, options
        self._rng = random.Random(seed)
        self._steps: dict[object, Step] = {}
        self._shares = shares(options.gpu)
        self._since_refill = 0

    def advance(self, share: float, steps: int) -> int:
        self._optimiser.set_rate(rate_at(self.rate, share, steps, self.flat))
        count = 10 if self._options.gpu else 2
        for _ in range(count):
            self.draw(self._rng.choices(list(self._shares), weights=list(self._shares.values()))[0])
            self._since_refill += 1
            if self._since_refill >= self._options.refill_every:
                self._bank.add()
                self._since_refill = 0
        return count

    def mean_loss(self) -> float:
        total, count = 0.0, 0
        for step in self._steps.values():
            steps = step.count
            total += step.mean_loss() * steps
            count += steps
        return total / max(1, count)

    def draw(self, bucket: Bucket) -> None:
        raise NotImplementedError
