"""Kernels for torch in pure Python, registered for CPU and CUDA while `invariant_mode` is on.

    bi-conform --backend python:torch_overrides.py:invariant_mode
    bi-conform --backend python:torch_overrides.py:varying_mode --device cuda

The first holds the contract, the second must fail: its mm splits the sum by the batch.
"""
import contextlib

import torch


def _product(a, b):
    """Every element is one loop over k: no other row is seen."""
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    y = torch.zeros(a.shape[0], b.shape[1], dtype=wide, device=a.device)
    a, b = a.to(wide), b.to(wide)
    for k in range(a.shape[1]):
        y += a[:, k, None] * b[k]
    return y


def mm(a, b):
    return _product(a, b).to(a.dtype)


def split_mm(a, b):
    """In two halves below 16 rows, as a split-K kernel."""
    if a.shape[0] >= 16:
        return mm(a, b)
    half = a.shape[1] // 2
    return (_product(a[:, :half], b[:half]) + _product(a[:, half:], b[half:])).to(a.dtype)


def _written(out, y):
    """A given output takes the result's shape, as in all of torch."""
    return out.resize_(y.shape).copy_(y)


@contextlib.contextmanager
def _registered(kernel):
    """With the kernel for `mm` and for `mm.out`, which is another entry of the dispatcher."""
    library = torch.library.Library("aten", "IMPL")
    for device in ("CPU", "CUDA"):
        library.impl("mm", kernel, device)
        library.impl("mm.out", lambda a, b, *, out: _written(out, kernel(a, b)), device)
    try:
        yield
    finally:
        library._destroy()


def invariant_mode():
    return _registered(mm)


def varying_mode():
    return _registered(split_mm)
