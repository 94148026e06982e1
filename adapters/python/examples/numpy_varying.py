"""As numpy_ops.py, but `mm` splits its sum when the batch is small: it must fail."""
import numpy as np

BI_CONFORM = {"mm": {"dtypes": ["fp32", "fp64"]}}


def mm(a, b):
    """y[i,j] = sum over k of a[i,k] b[k,j]; in two halves below 16 rows, as a split-K kernel."""
    splits = 2 if a.shape[0] < 16 else 1
    y = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for part in np.array_split(np.arange(a.shape[1]), splits):
        term = np.zeros_like(y)
        for k in part:
            term += a[:, k, None] * b[k]
        y += term
    return y
