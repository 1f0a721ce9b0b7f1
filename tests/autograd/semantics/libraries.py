"""The two libraries that the table runs on, under one set of names."""

import importlib
from typing import Any

import numpy as np

_NAMES = (
    "abs", "arctan2", "clip", "concatenate", "conj", "cos", "cumsum", "dot", "exp", "floor", "imag", "log", "max",
    "maximum", "mean", "min", "minimum", "outer", "prod", "real", "reshape", "sign", "sin", "sort", "sqrt", "stack",
    "sum", "tanh", "transpose", "where", "zeros", "ones", "split", "trace",
)  # fmt: skip


class S2S:
    """This library: NumPy's functions, and `s2s.autograd`."""

    name = "s2s"

    def __init__(self) -> None:
        self.lib: Any = importlib.import_module("s2s.autograd")
        self.forms = self.lib
        for name in _NAMES:
            setattr(self, name, getattr(np, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lib, name)

    def leaf(self, data: Any, dtype: Any = None) -> Any:
        """A leaf that requires grad, over data of its own."""
        return self.lib.Variable(np.array(data, dtype), requires_grad=True)

    def const(self, data: Any, dtype: Any = None) -> Any:
        """A value that requires none."""
        return self.lib.Variable(np.array(data, dtype))

    def value(self, v: Any) -> Any:
        """The plain value, None for None."""
        if v is None or not isinstance(v, self.lib.Variable):
            return v
        return np.array(v.detach().numpy())

    def write(self, v: Any, index: Any, value: Any) -> None:
        """A raw write to the data, which is not recorded."""
        v.data[index] = value

    def expand(self, v: Any, *shape: int) -> Any:
        """The same broadcast to a shape."""
        return np.broadcast_to(v, shape)

    def mul_(self, v: Any, other: Any) -> Any:
        """`v *= other` as a call."""
        v *= other
        return v

    def add_(self, v: Any, other: Any) -> Any:
        """`v += other` as a call."""
        v += other
        return v

    def hooks_of_saved(self, pack: Any, unpack: Any) -> Any:
        """`saved_tensors_hooks`."""
        return self.lib.saved_tensors_hooks(pack, unpack)


class Torch(S2S):
    """PyTorch, by which the table was validated."""

    name = "torch"

    def __init__(self) -> None:
        self.torch: Any = importlib.import_module("torch")
        self.torch.set_default_dtype(self.torch.float64)
        self.lib = self.torch.autograd
        self.enable_grad, self.no_grad = self.torch.enable_grad, self.torch.no_grad
        self.set_grad_enabled, self.is_grad_enabled = self.torch.set_grad_enabled, self.torch.is_grad_enabled
        self.inference_mode = self.torch.inference_mode
        self.is_inference_mode_enabled = self.torch.is_inference_mode_enabled
        for name in _NAMES:
            setattr(self, name, getattr(self.torch, name, None))
        self.transpose = lambda v: v.T
        self.sort = lambda v: self.torch.sort(v).values
        self.once_differentiable = self.torch.autograd.function.once_differentiable
        self.detect_anomaly = lambda: self.torch.autograd.detect_anomaly(check_nan=True)

    def leaf(self, data: Any, dtype: Any = None) -> Any:
        return self.torch.tensor(np.array(data, dtype), requires_grad=True)

    def const(self, data: Any, dtype: Any = None) -> Any:
        return self.torch.tensor(np.array(data, dtype))

    def value(self, v: Any) -> Any:
        return v.detach().resolve_conj().numpy().copy() if isinstance(v, self.torch.Tensor) else v

    def expand(self, v: Any, *shape: int) -> Any:
        return v.expand(*shape)

    def hooks_of_saved(self, pack: Any, unpack: Any) -> Any:
        return self.torch.autograd.graph.saved_tensors_hooks(pack, unpack)
