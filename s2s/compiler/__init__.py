"""From a call of a gradient to the code that serves it.

target      what is called: a plain function, and the arguments bound to it
argnums     what to differentiate by
objects     what is known of objects among the arguments: `self`, a model
given       the arguments of a call by parameter, and their kinds as a key
layout      its parameters, and the text of functions that have the same ones
arguments   what is refused before any work is done
shared      whether somebody else holds what a program writes into
reliance    what the function's free names mean, on which compiled code rests
classes     what it relies on of the classes of which it makes objects
guards      kinds as conditions in Python
dispatch    the generated function that tests the conditions and calls a variant
program     answers the passes' questions about other functions
callees     functions that compiled code calls: kinds of results, compiled sweeps
nested      derivatives that compiled code calls
dynamic     calls that are recorded by themselves, among compiled code
store       lowering, passes and building, once in a process
driver      the variants of one function
fallback    the warning and the record of what goes to the tape
derivative  the object that `grad(f)` returns
forward     `jvp`, `linearize`
pullback    `vjp`
jit         generated functions, compiled by Numba
onenode     gradients called on Variables
jacobian    the object that `jacobian(f)` returns, and `hessian(f)`
"""
