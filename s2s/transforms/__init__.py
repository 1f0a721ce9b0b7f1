"""The compiler's passes, Core -> Core, and what they ask of a program. `pipeline` holds their order.

task        what is asked of the compiler
pipeline    the passes in their order

Before differentiation
total       the value -> its sum (`elementwise_grad`)
valued      returns of None beside those of a value -> errors
calls       the pass `inline`: which calls of user functions are inlined
inline      the splicing: a body in the place of a call
derivatives derivatives that the program takes -> calls of what is generated for them
parameters  what a call gives each parameter
anew        functions that are known by their code: what differs from one to the next is read from them
usercalls   the form of the calls that stay
givenback   those of functions that write into their arguments
objects     objects of plain classes: methods and operators -> calls, attributes of those made here -> names
  references  what names refer to, and what the attributes of that run
  making      how an object is made: `__init__`, fields, keywords
  uses        expressions with objects
  mappings    dicts whose keys are known: items -> names
  keys        which keys a dict has, on all ways or on some
  dicts       expressions with them
  deques      deques -> lists
  rows        objects in lists: a list for each attribute
  heap        which objects there are at each place, and where two ways meet
classes     what is known of classes
tables      functions in tuples, lists and dicts -> unrolled loops, branches
spread      calls with `*args` and `**kwargs` -> plain calls
recursive   nested functions that call themselves -> functions of their own
foreign     what an inlined body keeps of its own scope
tries       `try` -> branches on exceptions as values
questions   what asks whether a statement raises
pairs       tuples that meet -> a name for each item
versions    single assignment: each assignment gets a name of its own
copies      copies are read through
infer       kinds and shapes of all names
raising     which exceptions an operation may raise, by kinds
items       kinds of the items of containers and iterators
samples     small values that stand for kinds
decided     results that kinds decide
prune       branches that kinds decide
apart       what writes into a number or array, by the branch that was taken -> into the branches
opposites   branches on opposite conditions -> one branch
mutation    writes into memory -> calls of a few functions that write into their first argument
filling     NumPy's functions that write into an array -> stores of items
lists       methods that change the length of a list -> appending and dropping the last item
refusing    calls that may write where it is not known -> refused
meetings    meeting names that always stand for one object -> that object's name
loops       loops over values -> loops over indices
scalarise   containers built and taken apart again -> names
leaves      items of container arguments -> names, once, at the start
sequences   lists among NumPy's operands -> arrays
outside     variables that are not the function's own are read into names, where they may be assigned meanwhile
stores      what is written into gets a new version, and so do its views
activity    which names carry derivatives
texts       numbers that are made of text of active values
repeats     whether the program may be run again (forward mode)
expand      functions whose rule is a decomposition -> a twin that computes the same

Differentiation
callpairs   calls that stay -> calls of forward sweeps
forward     the tangent program
reverse/    the adjoint program:
  joint       the parts put together
  sweep       the blocks backwards, with the state of every adjoint
  adjoints    names and states of adjoints, how they are started, added to and owned
  emitted     a reversed block while it grows
  fitting     contributions in the shape and dtype of the operand
  fragments   what one operation contributes to the adjoints of its operands
  restore     how the reverse sweep finds the values that it reads
  parts       which containers have a shadow that is a part of another one's
  stores      writes backwards: what was overwritten, and the adjoints of buffers
split       the adjoint program in two: a forward and a reverse sweep
partials    partial derivatives of one operation, and products with them
rulebody    bodies of rules in the place of calls
selecting   where a zero cotangent may meet an infinite slope
operations  an operation of the program, bound to its rule
reaching    which values reach the result whole, and so need no guard
poles       which divisors are not zero where the result is finite
ranges      signs and bounds of values, and so which slopes are finite

The text that a person would write
inplace     versions of memory -> its name; calls that write -> statements
simplify    what is more than needed goes, to a fixed point, by the next four
propagate   copies and known values in place of names
peephole    small rewritings of derivative code
dead        what computes values that nothing needs goes
exits       loops left on the condition itself, without a flag
delay       an adjoint's new value after the last use of the old one
coalesce    versions of a variable -> one name again
buffers     copies of adjoints, and zeros in them, that nothing needs
sink        what is added to a buffer -> computed where it is added
swaps       copies that go in a circle -> one assignment
updates     items that the user updates in place -> `x[i] /= v` again
sweeps      names that both sweeps assign, each for itself -> two names
fold        single-use temporaries -> back into expressions
numbers     names that surely hold numbers, and so may be updated in place
rename      our names -> plain ones
comment     comments: the sweeps, the user's statements

What passes ask
aliases     which names may share memory, statement by statement
views       names that are views of one array for certain
steps       whether two views go through their memory in step
bound       names that may be unbound when they are read
callee      what an expression calls
known       what functions do with memory, and what else: the table
conduct     what a call does with its operands, by that table
contents    of which arrays a statement reads more than the shape
dims        the lengths of axes in terms of others
effects     what an expression may do besides giving a value
intervals   parts of arrays as an interval for each axis
liveness    which names may be read before they are assigned again
places      memory in the finished sweeps, and which items are surely others
regions     which parts of arrays are read and written, and what stands there still
renaming    names replaced all over a function
sameshape   which results have one shape, and which shapes broadcast to which
sharing     names that may come to share memory
structure   what a statement reads, binds and holds
"""
