"""Reverse mode: from a Core function to the function that computes its gradient, forward sweep and then reverse sweep.

`fragments` writes what one operation contributes to the adjoints of its operands, `adjoints` holds their states.
`sweep` goes through the program backwards and decides where a contribution starts an adjoint and where it is added.
`restore` sees to it that the reverse sweep finds the values that it reads: pushed in the forward sweep, or computed
again. `joint` puts the parts together.

Griewank and Walther, "Evaluating Derivatives" (2nd edition, 2008), chapters 3 to 5; Hascoet and Pascual, "The Tapenade
Automatic Differentiation tool" (TOMS 2013), for the to-be-recorded analysis.
"""

from s2s.transforms.reverse.joint import reverse

__all__ = ["reverse"]
