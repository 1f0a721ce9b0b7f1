"""The eager API: PyTorch's `autograd` on NumPy arrays, on the same rules as the compiler."""

from s2s.autograd.calls import backward, grad, jvp
from s2s.autograd.check import gradcheck, gradgradcheck
from s2s.autograd.function import Function, once_differentiable
from s2s.autograd.instances import NestedIOFunction
from s2s.autograd.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from s2s.autograd.stochastic import StochasticFunction, bernoulli, multinomial, normal
from s2s.autograd.straightline import to_source
from s2s.autograd.variable import Variable, from_dlpack
from s2s.autograd.watch import detect_anomaly, is_anomaly_enabled, saved_tensors_hooks, set_detect_anomaly

__all__ = [
    "Function",
    "NestedIOFunction",
    "StochasticFunction",
    "Variable",
    "backward",
    "bernoulli",
    "detect_anomaly",
    "enable_grad",
    "from_dlpack",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "jvp",
    "multinomial",
    "no_grad",
    "normal",
    "once_differentiable",
    "saved_tensors_hooks",
    "set_detect_anomaly",
    "set_grad_enabled",
    "to_source",
]
