"""Kernels in plain NumPy: functions named as ops of the suite, with the arguments of torch.ops.

    bi-conform --backend python:numpy_ops.py --op mm --op softmax

`mm` holds the contract: every element is one loop over k, whatever the batch. BI_CONFORM narrows
what the module claims: here the sums of fp16 are made in fp32.
"""
import numpy as np

BI_CONFORM = {
    "mm": {"dtypes": ["fp32", "fp16", "fp64"]},
    "softmax": {"dtypes": ["fp32", "fp64"]},
}


def _sums(x):
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _given(y, out):
    if out is None:
        return y
    out[...] = y
    return out


def mm(a, b, out=None):
    """y[i,j] = sum over k of a[i,k] b[k,j], added one k after the other."""
    wide_a, wide_b = _sums(a), _sums(b)
    y = np.zeros((a.shape[0], b.shape[1]), wide_a.dtype)
    for k in range(a.shape[1]):
        y += wide_a[:, k, None] * wide_b[k]
    return _given(y.astype(a.dtype), out)


def softmax(x, dim, out=None):
    """Along one axis; the terms are added in the order of that axis."""
    rows = np.moveaxis(x, dim, 0)
    e = np.exp(rows - rows.max(axis=0))
    total = np.zeros(e.shape[1:], e.dtype)
    for term in e:
        total += term
    return _given(np.moveaxis(e / total, 0, dim), out)
