"""What the functions of Python and NumPy do: one table. `conduct` answers questions by it.

A row gives the parameters of some functions, as far as anything is to be said of them, with marks:

    a!   the function writes into a
    a=   the result is a view of the array a, or is a
    a~   the result may share memory with a, or may be or hold a or an item of it
    a+   what is written into holds a, or items of it, from now on
    a()  the function calls a, which may do anything
    a?   a's other marks count unless the row's switch has the value that leaves a alone: `copy=True`

Without a mark the result shares nothing with a. Any function writes into its keyword `out`, and gives it back.
`tests/transforms/test_known.py` holds the table against NumPy itself.
"""

from __future__ import annotations

import bisect
import builtins
import math
import operator
import time
from typing import Any

import numpy as np

from s2s.runtime import catching, minors, numeric, ordering, pytree, stores
from s2s.runtime.patterns import is_mapping, is_sequence

# The nodes and weights of NumPy's quadratures.
QUADRATURES = [("legendre", "leggauss"), ("chebyshev", "chebgauss"), ("laguerre", "laggauss"), ("hermite", "hermgauss"),
               ("hermite_e", "hermegauss")]  # fmt: skip

ROWS: list[tuple[str, Any, str]] = [
    # What writes into an argument.
    ("dst! src casting where", np, "copyto"),
    ("a! ind v mode", np, "put"),
    ("a! mask values", np, "putmask"),
    ("arr! mask vals", np, "place"),
    ("arr! indices values axis", np, "put_along_axis"),
    ("a! val wrap", np, "fill_diagonal"),
    ("self!", np.ndarray, "fill partition put resize setfield setflags sort __setitem__"),
    ("self!?~? inplace=False", np.ndarray, "byteswap"),
    ("x!?~? copy=True", np, "nan_to_num"),
    ("a!? axis out overwrite_input=False keepdims", np, "median nanmedian"),
    ("a!? q axis out overwrite_input=False method keepdims", np, "percentile nanpercentile quantile nanquantile"),
    ("a!= b+~", operator, "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift"),
    ("a! b c+", operator, "setitem"),
    ("a! b", operator, "delitem"),
    ("a!~ b+~", operator, "iconcat"),
    # Views.
    ("a=", np, "transpose permute_dims swapaxes moveaxis rollaxis squeeze expand_dims diagonal"),
    ("m=", np, "flip flipud fliplr rot90"),
    ("x=", np, "matrix_transpose"),
    ("x=", np.linalg, "matrix_transpose diagonal"),
    ("x=", np.lib.stride_tricks, "as_strided sliding_window_view"),
    ("ary=", np, "split array_split hsplit vsplit dsplit"),
    ("array=", np, "broadcast_to"),
    ("*arys=", np, "atleast_1d atleast_2d atleast_3d broadcast_arrays"),
    ("val=", np, "real"),
    ("self=", np.ndarray, "view transpose swapaxes squeeze diagonal getfield T mT real flat data"),
    # May be views.
    ("a~? dtype order copy=None", np, "asarray asanyarray"),
    ("a~", np, "ravel ascontiguousarray asfortranarray asarray_chkfinite require real_if_close diff"),
    ("a~? shape order copy=None", np, "reshape"),
    ("object~? dtype copy=True", np, "array"),
    ("x~? dtype copy=True", np, "astype"),
    ("*xi~? copy=True", np, "meshgrid"),
    ("data~", np, "asmatrix"),
    ("x~? copy=None", np, "from_dlpack"),
    ("buffer~", np, "frombuffer"),
    ("val~", np, "imag"),
    ("v~", np, "diag"),
    ("x~", np, "unstack"),
    ("filt~", np, "trim_zeros"),
    ("p~ m", np, "polyder polyint"),
    ("a bins~", np, "histogram histogram_bin_edges histogramdd"),
    ("x y bins~", np, "histogram2d"),
    ("a~ n", np.linalg, "matrix_power"),
    ("*operands~", np, "einsum"),
    ("*args~", np, "ix_"),
    ("op~", np, "nested_iters nditer ndenumerate"),
    ("*args~", np, "broadcast"),
    ("self~", np.ndarray, "ravel imag base flags ctypes __array_interface__ __array_struct__ to_device"),
    ("self~ out", np.ndarray, "conj conjugate"),
    ("self~? *shape copy=None", np.ndarray, "reshape"),
    ("self~? dtype order casting subok copy=True", np.ndarray, "astype"),
    ("a~ b", operator, "getitem"),
    ("a~ b~", operator, "add concat mul"),
    # What calls functions of the user's, or steps his iterators.
    ("func1d() axis arr *args", np, "apply_along_axis"),
    ("func() a~ axes", np, "apply_over_axes"),
    ("function() shape", np, "fromfunction"),
    ("iter() dtype", np, "fromiter"),
    ("x condlist funclist() *args out!~", np, "piecewise"),
    ("n mask_func() k", np, "mask_indices"),
    ("array pad_width mode()", np, "pad"),
    ("*args~ key()", builtins, "max min"),
    # New results.
    ("a axis out", np, "all any argmax argmin amax amin max min nanargmax nanargmin nanmax nanmin ptp"),
    ("a b out", np, "dot outer"),
    ("arrays axis out", np, "concatenate concat stack"),
    ("a decimals out", np, "round around"),
    ("a axis dtype out", np, "cumprod cumsum mean nancumprod nancumsum nanmean nanprod nanstd nansum nanvar prod std "
                             "sum var"),
    ("a choices out!~ mode", np, "choose"),
    ("a a_min a_max out", np, "clip"),
    ("condition a axis out", np, "compress"),
    ("a indices axis out", np, "take"),
    ("a offset axis1 axis2 dtype out", np, "trace"),
    ("x out", np, "fix isneginf isposinf"),
    ("dates weekmask holidays busdaycal out", np, "is_busday"),
    ("begindates enddates weekmask holidays busdaycal out", np, "busday_count"),
    ("dates offsets roll weekmask holidays busdaycal out", np, "busday_offset"),
    ("x", np, "cumulative_prod cumulative_sum"),
    ("a n axis norm out", np.fft, "fft ifft ihfft irfft irfftn rfft rfft2 rfftn"),
    ("a n axis norm out!~", np.fft, "hfft irfft2"),
    ("a~ s axes norm out!~", np.fft, "fft2 fftn ifft2 ifftn"),
    ("self axis out", np.ndarray, "argmax argmin max min"),
    ("self axis dtype out", np.ndarray, "all any cumprod cumsum mean prod std sum var"),
    ("self choices out!~", np.ndarray, "choose"),
    ("self other out", np.ndarray, "dot"),
    ("self decimals out", np.ndarray, "round"),
    ("self min max out", np.ndarray, "clip"),
    ("self condition axis out", np.ndarray, "compress"),
    ("self indices axis out", np.ndarray, "take"),
    ("self offset axis1 axis2 dtype out", np.ndarray, "trace"),
    ("", np.ndarray, "argpartition argsort copy flatten item nonzero repeat searchsorted tobytes tolist dumps "
                     "shape strides dtype ndim size itemsize nbytes device"),
    ("", np, "allclose angle append arange argpartition argsort argwhere array2string array_equal array_equiv "
             "array_repr array_str average bartlett base_repr binary_repr bincount blackman block broadcast_shapes "
             "can_cast column_stack common_type convolve copy corrcoef correlate count_nonzero cov cross "
             "datetime_as_string datetime_data delete diag_indices diag_indices_from diagflat digitize dstack ediff1d "
             "einsum_path errstate empty empty_like extract eye flatnonzero format_float_positional "
             "format_float_scientific full full_like geomspace geterr gradient hamming hanning "
             "hstack i0 identity indices inner insert interp intersect1d isclose iscomplex iscomplexobj "
             "isdtype isfortran isin isreal isrealobj isscalar issubdtype iterable kaiser kron lexsort linspace "
             "logspace may_share_memory min_scalar_type mintypecode ndim nonzero ones ones_like packbits partition "
             "poly polyadd polydiv polyfit polymul polysub polyval promote_types ravel_multi_index "
             "repeat resize result_type roll roots searchsorted select setdiff1d setxor1d shape shares_memory sinc "
             "size sort sort_complex take_along_axis tensordot tile trapezoid tri tril tril_indices "
             "tril_indices_from triu triu_indices triu_indices_from typename union1d unique unique_all unique_counts "
             "unique_inverse unique_values unpackbits unravel_index unwrap vander vdot vstack where zeros zeros_like"),
    ("", np.linalg, "cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_rank "
                    "multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv tensorsolve trace "
                    "vecdot vector_norm"),
    ("", np.fft, "fftfreq fftshift ifftshift rfftfreq"),
    # Python's own.
    ("", operator, "sub truediv floordiv mod pow matmul and_ or_ xor lshift rshift eq ne lt le gt ge neg pos invert "
                   "not_ is_ is_not contains truth abs index"),
    ("", builtins, "abs all any bool callable chr complex divmod float format frozenset hasattr hash id int "
                   "isinstance issubclass len ord pow range repr round slice str type"),
    ("", catching, "caught"),
    *(("", getattr(np.polynomial, family), function) for family, function in QUADRATURES),
    ("", ordering, "sorting first_largest first_smallest position is_indexed require_equal_lengths "
                   "require_items"),
    ("a x lo hi key()", bisect, "bisect bisect_left bisect_right"),
    ("", time, "time perf_counter process_time monotonic"),
    ("error~ cause~ handled~", catching, "raised"),
    ("a~", builtins, "dict enumerate list reversed set tuple"),
    ("iterable~ start~", builtins, "sum"),
    ("*iterables~", builtins, "zip"),
    ("iterable~ key()", builtins, "sorted"),
    ("function() *iterables~", builtins, "filter map"),
    ("iterator!~ default~", builtins, "next"),
    ("iterable~", builtins, "iter"),
    ("self! item+", list, "append remove"),
    ("self! items+", list, "extend"),
    ("self!~ items+~", list, "__iadd__"),
    ("self! index item+", list, "insert __setitem__"),
    ("self! index", list, "__delitem__"),
    ("self! key()", list, "sort"),
    ("self!", list, "clear reverse"),
    ("self!~", list, "pop __imul__"),
    ("self~", list, "copy __getitem__"),
    ("", list, "count index"),
    ("self~", tuple, "__getitem__"),
    ("", tuple, "count index"),
    ("self! key item+", dict, "__setitem__"),
    ("self! key", dict, "__delitem__"),
    ("self!", dict, "clear"),
    ("self!~ key default~", dict, "pop"),
    ("self!~", dict, "popitem"),
    ("self!~ key default+~", dict, "setdefault"),
    ("self! *others+", dict, "update"),
    ("self~", dict, "copy items values keys __getitem__"),
    ("self~ key default~", dict, "get"),
    ("self! item+", set, "add"),
    ("self! *others+", set, "update symmetric_difference_update"),
    ("self! *others", set, "difference_update discard intersection_update remove clear"),
    ("self!~", set, "pop"),
    ("self~ *others~", set, "copy union intersection difference symmetric_difference"),
    ("", set, "isdisjoint issubset issuperset"),
    # What compiled code calls.
    ("target! index value", numeric, "scatter_add"),
    ("g index shape", numeric, "scatter"),
    ("g offset shape", numeric, "from_diagonal"),
    ("x!= index value", stores, "add_at add_item set_flat sub_at sub_item"),
    ("x!= index value+", stores, "set_item"),
    ("x!= value+", stores, "append"),
    ("x!= last", stores, "drop_last"),
    ("x= index value", stores, "seen_item"),
    ("x= part value", stores, "seen"),
    ("bar! x part", stores, "taken"),
    ("bar~ x part", stores, "slot slot_of_item"),
    ("bar!", stores, "emptied"),
    ("x_dot!~ x part part_dot~", stores, "put_in_place"),
    ("x", stores, "private"),
    ("shape index", stores, "last_writes"),
    ("region value", stores, "require_in_step"),
    ("g~ shape", stores, "put_back"),
    ("into! index bar", pytree, "accumulate"),
    ("x", pytree, "stop_gradient"),
    ("into!~ bar~", pytree, "add"),
]  # fmt: skip

# Methods of ufuncs, which are bound to theirs.
OF_UFUNCS = {
    "at": "a! indices b",
    "reduce": "array axis dtype out",
    "accumulate": "array axis dtype out",
    "reduceat": "array indices axis dtype out",
    "outer": "A B",
}
# Functions that draw random numbers, by name (their module loads late): those of which there is more to say.
DRAWING = {
    "shuffle": "x! axis",
    "random": "size dtype out",
    "standard_normal": "size dtype out",
    "standard_exponential": "size dtype method out",
    "standard_gamma": "shape size dtype out",
}

# What the world sees, or sees to: text and files, the state of NumPy, an error that is meant for the user.
OUTER = {
    print, input, open, np.save, np.savetxt, np.savez, np.savez_compressed, np.load, np.loadtxt, np.genfromtxt,
    np.fromfile, np.fromregex, np.ndarray.tofile, np.ndarray.dump, np.seterr, np.seterrcall, np.setbufsize,
    np.set_printoptions, np.info, np.show_config, np.show_runtime, numeric.require_scalar, minors.refuse_third,
    time.time,
    time.perf_counter, time.process_time, time.monotonic,
    stores.require_in_step,
}  # fmt: skip

# Functions whose result is decided by kinds alone: sampled, and the result's value is kept.
STATIC = {len, isinstance, callable, hasattr, issubclass, np.ndim, np.iscomplexobj, np.isrealobj, np.isscalar,
          np.issubdtype, np.result_type, is_mapping, is_sequence, ordering.is_indexed}  # fmt: skip
# Those of Python's functions, and types, that may be called on samples.
PURE = STATIC | {range, int, float, complex, bool, tuple, list, dict, abs, min, max, sum, pow, round, divmod, slice,
                 str, any, all, np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128,
                 np.complex64, bisect.bisect_left, bisect.bisect_right, ordering.sorting, ordering.first_largest,
                 ordering.first_smallest, ordering.require_equal_lengths, sorted,
                 *(getattr(getattr(np.polynomial, family), function) for family, function in QUADRATURES)}  # fmt: skip
ITERATORS = {zip, enumerate, reversed}
# Functions whose result carries no derivative, whatever they are given.
INERT = {print, isinstance, id, type, hash, repr, str, format, callable, hasattr, len, bool, int, is_mapping,
         is_sequence, catching.caught, catching.raised, ordering.sorting, ordering.first_largest,
         ordering.first_smallest, ordering.position, ordering.is_indexed, ordering.require_equal_lengths,
         ordering.require_items}  # fmt: skip
# Functions that only read, though nothing is known of the kind of their result.
LOOKING = INERT | ITERATORS | {set, frozenset, getattr, dict.get, dict.items, dict.keys, dict.values, list.count,
                               list.index, tuple.count, tuple.index}  # fmt: skip

# What cannot raise on numbers of any value ...
TOTAL_OPERATORS = {operator.add, operator.sub, operator.mul}
TOTAL_CALLS = {math.tanh, math.atan, math.atan2, math.copysign, math.erf, math.fabs, math.isnan, math.isinf, abs, len,
               float, range, reversed}  # fmt: skip
# ... and functions of NumPy's that work on the elements, whatever these are: with one array there is nothing to fit.
TOTAL_NUMPY = {
    np.sum, np.mean, np.prod, np.var, np.std, np.copy, np.zeros_like, np.ones_like, np.ravel, np.transpose, np.cumsum,
    np.real, np.imag, np.shape, np.ndim, np.size, np.abs, np.ndarray.sum, np.ndarray.mean, np.ndarray.prod,
    np.ndarray.var, np.ndarray.std, np.ndarray.copy, np.ndarray.ravel, np.ndarray.transpose, np.ndarray.flatten,
    np.ndarray.cumsum,
}  # fmt: skip
