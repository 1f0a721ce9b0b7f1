"""The eager API: PyTorch's `autograd` on NumPy arrays, on the same rules as the compiler."""

from s2s.autograd.check import gradcheck, gradgradcheck
from s2s.autograd.engine import backward, grad
from s2s.autograd.function import Function
from s2s.autograd.modes import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from s2s.autograd.variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
