"""An op that the suite does not have, in plain NumPy; adapters/examples/fused_rms_norm.json says
what it is:

    bi-conform --backend python:numpy_fused.py --op-spec fused_rms_norm.json --op fused_rms_norm

`fused_rms_norm` holds the contract: every row is one loop over h, whatever the batch.
"""
import numpy as np

BI_CONFORM = {"fused_rms_norm": {"dtypes": ["fp32", "fp16", "fp64"]}}


def sum_in_order(terms):
    """Of each row, one element after the other."""
    total = np.zeros(terms.shape[0], terms.dtype)
    for column in terms.T:
        total += column
    return total


def fused_rms_norm(x, residual, weight, eps, total=sum_in_order):
    """y = s / sqrt(mean s^2 + eps) * w for s = x + residual; all in fp32 for fp16."""
    wide = np.dtype(np.float32) if x.dtype == np.float16 else x.dtype
    s = x.astype(wide) + residual.astype(wide)
    mean = total(s * s) / wide.type(s.shape[1])
    root = np.sqrt(mean + wide.type(eps))
    return (s / root[:, None] * weight.astype(wide)).astype(x.dtype)
