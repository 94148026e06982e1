"""As numpy_fused.py, but sums in two halves when the batch is small, as a kernel does that wants
more blocks than there are rows: it must fail."""
import numpy_fused

BI_CONFORM = numpy_fused.BI_CONFORM


def sum_in_halves(terms):
    half = terms.shape[1] // 2
    return numpy_fused.sum_in_order(terms[:, :half]) + numpy_fused.sum_in_order(terms[:, half:])


def fused_rms_norm(x, residual, weight, eps):
    total = sum_in_halves if x.shape[0] < 16 else numpy_fused.sum_in_order
    return numpy_fused.fused_rms_norm(x, residual, weight, eps, total)
