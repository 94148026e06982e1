"""A plain function on torch's tensors: the module imports torch, so it is given those."""
import torch


def mm(a, b, out=None):
    """y[i,j] = sum over k of a[i,k] b[k,j], added one k after the other, in fp32 or fp64."""
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    y = torch.zeros(a.shape[0], b.shape[1], dtype=wide, device=a.device)
    for k in range(a.shape[1]):
        y += a[:, k, None].to(wide) * b[k].to(wide)
    return y.to(a.dtype) if out is None else out.copy_(y)
