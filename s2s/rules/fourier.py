"""Discrete Fourier transforms. All are linear; the matrix of a complex one is symmetric, so it is its own transpose.

A transform that pads or crops first has a transpose that crops or pads last (`fitted_to`). The half spectrum of a real
transform stands for the whole one: its inverse counts all frequencies twice but those that are their own mirror images.
"""

import numpy as np

from s2s.rules.registry import decompose, linear

# --- along one axis ---------------------------------------------------------------------------------------------


def fitted_to(x, shape):
    """An array cropped, or padded with zeros, at the end of each axis."""
    if np.shape(x) == shape:
        return x
    x = x[tuple(slice(n) for n in shape)]
    return np.pad(x, [(0, n - have) for n, have in zip(shape, np.shape(x), strict=True)])


def mirror_counts(ans, axis, dtype):
    """How often each frequency of a half spectrum stands in the whole one of `ans.shape[axis]` frequencies."""
    n = np.shape(ans)[axis]
    counts = [1 if k == 0 or 2 * k == n else 2 for k in range(n // 2 + 1)]
    shape = [1] * np.ndim(ans)
    shape[axis] = n // 2 + 1
    return np.reshape(np.array(counts, dtype), shape)


@linear(np.fft.fft, wrt="a")
def fft_vjp(g, ans, a, n=None, axis=-1, norm=None, out=None):
    return fitted_to(np.fft.fft(g, axis=axis, norm=norm), np.shape(a))


@linear(np.fft.ifft, wrt="a")
def ifft_vjp(g, ans, a, n=None, axis=-1, norm=None, out=None):
    return fitted_to(np.fft.ifft(g, axis=axis, norm=norm), np.shape(a))


@linear(np.fft.rfft, wrt="a")
def rfft_vjp(g, ans, a, n=None, axis=-1, norm=None, out=None):
    n = np.shape(a)[axis] if n is None else n
    return fitted_to(np.real(np.fft.fft(g, n, axis, norm)), np.shape(a))


@linear(np.fft.irfft, wrt="a")
def irfft_vjp(g, ans, a, n=None, axis=-1, norm=None, out=None):
    half = np.fft.ihfft(g, axis=axis, norm=norm)
    return real_for_real(fitted_to(mirror_counts(ans, axis, half.real.dtype) * half, np.shape(a)), a)


def real_for_real(a_bar, a):
    """The cotangent of a spectrum, of which nothing but the real part moves where it is given as real numbers."""
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


@decompose(np.fft.hfft)
def hfft(a, n=None, axis=-1, norm=None, out=None):
    return np.fft.irfft(np.conj(a), n, axis, opposite(norm))


@decompose(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    return np.conj(np.fft.rfft(a, n, axis, opposite(norm)))


def opposite(norm):
    """How the inverse of a transform is scaled."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


# --- along several axes -----------------------------------------------------------------------------------------


def all_transformed(ndim, s, axes):
    """The axes of a transform."""
    if axes is None:
        return tuple(range(ndim)) if s is None else tuple(range(ndim - len(s), ndim))
    return tuple(axes)


@linear(np.fft.fftn, wrt="a")
def fftn_vjp(g, ans, a, s=None, axes=None, norm=None, out=None):
    return fitted_to(np.fft.fftn(g, axes=all_transformed(np.ndim(a), s, axes), norm=norm), np.shape(a))


@linear(np.fft.ifftn, wrt="a")
def ifftn_vjp(g, ans, a, s=None, axes=None, norm=None, out=None):
    return fitted_to(np.fft.ifftn(g, axes=all_transformed(np.ndim(a), s, axes), norm=norm), np.shape(a))


@linear(np.fft.rfftn, wrt="a")
def rfftn_vjp(g, ans, a, s=None, axes=None, norm=None, out=None):
    over = all_transformed(np.ndim(a), s, axes)
    whole = fitted_to(g, whole_spectrum(np.shape(ans), np.shape(a), s, over))
    return fitted_to(np.real(np.fft.fftn(whole, axes=over, norm=norm)), np.shape(a))


def whole_spectrum(half, shape, s, axes):
    """The shape of the whole spectrum, of which one half is given."""
    n = shape[axes[-1]] if s is None or s[-1] in (None, -1) else s[-1]
    return tuple(n if i == axes[-1] % len(half) else size for i, size in enumerate(half))


@linear(np.fft.irfftn, wrt="a")
def irfftn_vjp(g, ans, a, s=None, axes=None, norm=None, out=None):
    over = all_transformed(np.ndim(a), s, axes)
    half = np.fft.ihfft(g, axis=over[-1], norm=norm)
    half = mirror_counts(ans, over[-1], half.real.dtype) * half
    return real_for_real(fitted_to(np.fft.ifftn(half, axes=over[:-1], norm=norm), np.shape(a)), a)


@decompose(np.fft.fft2)
def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return np.fft.fftn(a, s, axes, norm)


@decompose(np.fft.ifft2)
def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return np.fft.ifftn(a, s, axes, norm)


@decompose(np.fft.rfft2)
def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return np.fft.rfftn(a, s, axes, norm)


@decompose(np.fft.irfft2)
def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return np.fft.irfftn(a, s, axes, norm)


# --- the order of frequencies -----------------------------------------------------------------------------------


@linear(np.fft.fftshift, wrt="x")
def fftshift_vjp(g, ans, x, axes=None):
    return np.fft.ifftshift(g, axes)


@linear(np.fft.ifftshift, wrt="x")
def ifftshift_vjp(g, ans, x, axes=None):
    return np.fft.fftshift(g, axes)
