# SPDX-License-Identifier: Apache-2.0
"""One optimisation step, replayed as a CUDA graph on a GPU: the networks are so small that launches would cost most."""

import math
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn


class Optimiser:
    """AdamW with clipped gradients and a running mean of the weights, over named parameters of several modules."""

    def __init__(self, modules: dict[str, nn.Module], mean_decay: float, weight_decay: float = 0.0, skip: tuple = ()):
        self.named = {f"{prefix}.{name}": parameter for prefix, module in modules.items()
                      for name, parameter in module.named_parameters() if not name.endswith(skip or ("\0",))}
        self.parameters = list(self.named.values())
        for parameter in self.parameters:
            parameter.requires_grad_(True)
        self.means = [parameter.detach().clone() for parameter in self.parameters]
        self.mean_decay = mean_decay
        self.graph_memory = None  # one pool for the graphs of all sizes: they never run at once
        self.device = self.parameters[0].device
        on_gpu = self.device.type == "cuda"
        self._rate = torch.tensor(1e-9, device=self.device) if on_gpu else 1e-9
        self.adam = torch.optim.AdamW(self.parameters, lr=self._rate, betas=(0.9, 0.98), weight_decay=weight_decay,
                                      fused=True, capturable=on_gpu)

    def set_rate(self, rate: float) -> None:
        if torch.is_tensor(self._rate):
            self._rate.fill_(rate)
        else:
            self.adam.param_groups[0]["lr"] = rate

    def apply(self) -> None:
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.adam.step()
        with torch.no_grad():
            torch._foreach_lerp_(self.means, self.parameters, 1 - self.mean_decay)

    def swap_means(self) -> None:
        """Exchanges the weights and their means: call it before and after using the means."""
        with torch.no_grad():
            for parameter, mean in zip(self.parameters, self.means):
                kept = parameter.detach().clone()
                parameter.copy_(mean)
                mean.copy_(kept)

    def settle(self) -> None:
        """The means become the weights, at the end of a stage."""
        with torch.no_grad():
            for parameter, mean in zip(self.parameters, self.means):
                parameter.copy_(mean)

    def state(self) -> dict[str, Tensor]:
        tensors = {}
        for (name, parameter), mean in zip(self.named.items(), self.means):
            tensors[f"mean.{name}"] = mean
            for key, value in self.adam.state[parameter].items():
                tensors[f"adam.{key}.{name}"] = value
        return tensors

    def restore(self, tensors: dict[str, Tensor]) -> None:
        for (name, parameter), mean in zip(self.named.items(), self.means):
            if f"mean.{name}" in tensors:
                mean.copy_(tensors[f"mean.{name}"])
            keys = [key for key in ("step", "exp_avg", "exp_avg_sq") if f"adam.{key}.{name}" in tensors]
            if keys:
                on_host = ("step",) if self.device.type == "cpu" else ()
                self.adam.state[parameter] = {
                    key: tensors[f"adam.{key}.{name}"].clone().to("cpu" if key in on_host else self.device) for key in keys}


class Step:
    """One step of a loss over inputs of fixed shapes. `loss` reads the inputs, draws its noise, returns a scalar."""

    def __init__(self, loss: Callable[..., Tensor], optimiser: Optimiser, graphs: bool):
        self._loss, self._optimiser, self._graphs = loss, optimiser, graphs
        self._inputs: tuple[Tensor, ...] = ()
        self._graph: torch.cuda.CUDAGraph | None = None
        self.total = torch.zeros((), device=optimiser.device)
        self.count = 0

    def __call__(self, *inputs: Tensor) -> None:
        self.count += 1
        if not self._graphs:
            self._inputs = inputs
            self._run()
            return
        if not self._inputs:
            self._inputs = tuple(tensor.clone() for tensor in inputs)
            self._capture()
        for kept, new in zip(self._inputs, inputs):
            kept.copy_(new)
        self._graph.replay()

    def mean_loss(self) -> float:
        """Of the steps since the last call. Waits for the GPU."""
        value = float(self.total) / max(1, self.count)
        self.total.zero_()
        self.count = 0
        return value

    def _run(self) -> None:
        self._optimiser.adam.zero_grad(set_to_none=True)
        with torch.autocast(self._optimiser.device.type, dtype=torch.bfloat16, cache_enabled=False):
            loss = self._loss(*self._inputs)
        loss.backward()
        self._optimiser.apply()
        self.total.add_(loss.detach())

    def _capture(self) -> None:
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):  # allocates what must outlive the capture, Adam's moments among it
                self._run()
        torch.cuda.current_stream().wait_stream(aside)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        self._graph = torch.cuda.CUDAGraph()
        if self._optimiser.graph_memory is None:
            self._optimiser.graph_memory = torch.cuda.graph_pool_handle()
        with torch.cuda.graph(self._graph, pool=self._optimiser.graph_memory):
            self._run()


class Clock:
    """A stage's budget of wall-clock time, of which earlier runs may have used a part."""

    def __init__(self, minutes: float, used: float = 0.0):
        self._seconds, self._start = 60 * minutes, time.monotonic() - used

    def used(self) -> float:
        return time.monotonic() - self._start

    def share(self) -> float:
        return min(1.0, self.used() / max(1e-6, self._seconds))


def rate_at(peak: float, share: float, steps: int, flat: float) -> float:
    """Warms up over 100 steps, stays to `flat` of the stage, then falls to 2 % along a cosine."""
    warm = min(1.0, (steps + 1) / 100)
    if share <= flat:
        return peak * warm
    fall = 0.5 + 0.5 * math.cos(math.pi * (share - flat) / (1 - flat))
    return peak * warm * (0.02 + 0.98 * fall)
