"""A Variable's place in the graph: leaf or result, what it wants, its gradient, and hooks on that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from s2s.autograd import hooks, modes
from s2s.autograd.nodes import plain
from s2s.autograd.value import INFERENCE, VOLATILE, Node, Value, dtype_of
from s2s.errors import EagerError


def run_backward(*args: Any) -> None:
    """Stands for `engine.backward` until the engine, which works on Variables, puts itself here."""
    raise RuntimeError("the engine is not loaded")


class Member(Value):
    """What a Variable knows of the graph."""

    __slots__ = ()

    @property
    def data(self) -> Any:
        """The plain data. Writes to it are not noticed; assigning it counts as a write."""
        return self._data

    @data.setter
    def data(self, data: Any) -> None:
        self._data = plain(data)
        self.storage().written("assignment of .data")

    @property
    def grad(self) -> Any:
        """The gradient that `backward` has added up, None before."""
        return getattr(self, "_grad", None)

    @grad.setter
    def grad(self, grad: Any) -> None:
        if grad is not None:
            grad = grad if isinstance(grad, Value) else type(self).make(np.asarray(grad))
            if np.shape(grad._data) != np.shape(self._data):
                raise EagerError(f"a gradient of shape {np.shape(grad._data)} for data of {np.shape(self._data)}")
        self._grad = grad

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this Variable, None for leaves."""
        self.parent()
        return self._node

    @property
    def creator(self) -> Any:
        """The older name of `grad_fn`; of Functions of the older form, the instance."""
        node = self.grad_fn
        return None if node is None else node.creator

    @property
    def is_leaf(self) -> bool:
        """Whether this Variable was not computed from others that require grad."""
        return self.grad_fn is None

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this Variable."""
        return self.parent() is not None

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self.requires_grad_(flag)

    def requires_grad_(self, flag: bool = True) -> Self:
        """Set whether gradients by this leaf are wanted; returns the Variable."""
        if self.grad_fn is not None:
            if flag:
                return self
            raise EagerError("requires_grad can be taken from leaves only", hint="use detach()")
        if flag and dtype_of(self._data).kind not in "fc":
            raise EagerError(
                f"only Variables of floats or complex numbers can require gradients, not of dtype {self._data.dtype}",
                hint="convert the data: x.astype(float)",
            )
        if flag and self._wants is VOLATILE:
            raise EagerError("a Variable cannot be volatile and require grad at the same time")
        if flag and self._wants is INFERENCE and not modes.state.inference:
            raise EagerError("a value that was made in inference_mode cannot require grad", hint="use its clone()")
        self._wants = bool(flag) if flag or self._wants is True else self._wants
        return self

    @property
    def volatile(self) -> bool:
        """Whether nothing that depends on this Variable is recorded."""
        return self._wants is VOLATILE

    @volatile.setter
    def volatile(self, flag: bool) -> None:
        if flag == self.volatile:
            return
        if self.grad_fn is not None or (flag and self._wants is True):
            raise EagerError(
                "only leaves that do not require grad can be made volatile",
                hint="use detach(), or requires_grad_(False)",
            )
        self._wants = VOLATILE if flag else False

    def is_inference(self) -> bool:
        """Whether this Variable was made in inference mode."""
        return self._wants is INFERENCE

    # --- gradients ------------------------------------------------------------------------------------------------

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
        *,
        retain_variables: bool | None = None,
    ) -> None:
        """Add the gradients of this Variable to the `.grad` of leaves; see `s2s.autograd.backward`.

        retain_variables: the older name of retain_graph.
        """
        run_backward(
            self, gradient, retain_graph if retain_variables is None else retain_variables, create_graph, inputs
        )

    def retain_grad(self) -> None:
        """Have `backward` fill `.grad` of this Variable, though it is no leaf."""
        node = self._place()
        if isinstance(node, Node) and not self.retains_grad:
            hooks.add(node, "hooks", hooks.Retain(self))

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` has been called on this inner value."""
        node = self.grad_fn
        found = (node.hooks if node is not None else None) or {}
        return any(isinstance(h, hooks.Retain) and h.owner() is self for h in found.values())

    def register_hook(self, hook: Callable[[Any], Any]) -> hooks.Handle:
        """Call `hook` with each gradient by this Variable; what it returns, if not None, takes the gradient's place."""
        node = self._place()
        return hooks.add(node, "hooks" if isinstance(node, Node) else "_hooks", hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> hooks.Handle:
        """Call `hook` with this leaf each time that `backward` has added to its `.grad`."""
        if isinstance(self._place(), Node):
            raise EagerError("hooks that run after gradients were added to .grad are for a leaf only")
        return hooks.add(self, "_after", hook)

    def _place(self) -> Node | Value:
        parent = self.parent()
        if parent is None:
            raise EagerError("this Variable does not require grad, so it has no gradient to look at")
        return parent

    def reinforce(self, reward: Any) -> None:
        """Give the reward of a sample, which its backward pass needs; see `s2s.autograd.StochasticFunction`."""
        node: Any = self.grad_fn
        if not hasattr(node, "reinforce"):
            raise EagerError("reinforce() is for results of stochastic functions only")
        node.reinforce(reward)

    # --- leaving the graph ----------------------------------------------------------------------------------------

    def detach(self) -> Self:
        """The same data (and memory) without the graph."""
        result = type(self).make(self._data)
        result._storage = self.storage()
        result._wants = self._wants if self._wants in (VOLATILE, INFERENCE) else False
        return result

    def detach_(self) -> Self:
        """Take this Variable out of the graph: it becomes a leaf that requires no grad. Returns it."""
        if self._view is not None:
            raise EagerError("a view cannot be detached in place: it shares the graph of its base", hint="use detach()")
        self._node = None
        self._wants = False if self._wants is True else self._wants
        return self
