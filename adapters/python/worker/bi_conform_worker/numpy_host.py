"""Tensors as NumPy arrays, for modules of plain functions."""
import ctypes
import functools
import re

import numpy as np

from .memory import HostMemory

NAME = "numpy"
DTYPES = {
    "fp32": np.dtype(np.float32),
    "fp16": np.dtype(np.float16),
    "fp64": np.dtype(np.float64),
    "int64": np.dtype(np.int64),
    "bool": np.dtype(np.bool_),
}
BITS = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
# What sets the threads of the BLAS that NumPy calls, by the library's kind.
SET_THREADS = ("openblas_set_num_threads", "openblas_set_num_threads64_",
               "scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads",
               "MKL_Set_Num_Threads", "bli_thread_set_num_threads")


def dtype(name):
    return DTYPES[name]


def view(memory, kind, shape, strides, offset):
    """An array over memory; strides in elements, offset in bytes."""
    return np.ndarray(shape, kind, memory, offset, [s * kind.itemsize for s in strides])


def guarded(size):
    """Memory of its own for a tensor of so many bytes."""
    return HostMemory(size, view)


def resident(memory):
    """Bytes of the parent's, where tensors are made of them."""
    return memory


shared = resident


def copy(to, source):
    to[...] = source


def count_ones(bits):
    """Elements all of whose bits are 1."""
    return int(np.count_nonzero(bits == -1))


def address(x):
    return x.ctypes.data


def cloned(x):
    return x.copy()


def strides(x):
    return [s // x.itemsize for s in x.strides]


def is_same(x, y):
    """The same elements at the same place."""
    return (address(x), x.shape, x.strides, x.dtype) == (address(y), y.shape, y.strides, y.dtype)


def imported(y):
    """What a function returned as an array, by DLPack where it is another library's."""
    if isinstance(y, np.generic):
        return np.asarray(y)
    if isinstance(y, np.ndarray):
        return y
    if hasattr(y, "__dlpack__"):
        return np.from_dlpack(y)
    raise TypeError(f"the call returned {type(y).__name__}, no array and nothing with DLPack")


def describe(y):
    return NAMES.get(y.dtype, str(y.dtype)), list(y.shape), y.itemsize


def computes_on_host():
    return True


def synchronize():
    """Nothing runs behind the back of a call."""


def is_lost():
    return False


def make_poison(_):
    """malloc's fresh blocks are poison already."""


def device_name():
    return "cpu"


def fingerprint():
    return {"numpy": np.__version__}


@functools.lru_cache(maxsize=1)  # of the last number: it is set again only when it changes
def set_threads(count):
    """Of every BLAS that is mapped here; one that has no such function keeps its own number."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = set(re.findall(r"/\S*(?:blas|mkl_rt|blis)\S*\.so\S*", maps.read()))
    for path in sorted(paths):
        library = ctypes.CDLL(path)
        for name in SET_THREADS:
            if hasattr(library, name):
                getattr(library, name)(count)


def _narrow(x, dim, start, length):
    return np.take(x, range(start, start + length), axis=dim)


def _slice(x, dim=0, start=None, end=None, step=1):
    index = [slice(None)] * x.ndim
    index[dim] = slice(start, end, step)
    return x[tuple(index)]


def _flatten(x, first=0, last=-1):
    last %= x.ndim
    return x.reshape(x.shape[:first] + (-1,) + x.shape[last + 1:])


# Steps around the one that is under test: they move bytes or round once.
GLUE = {
    "abs": np.abs,
    "neg": np.negative,
    "t": np.transpose,
    "permute": np.transpose,
    "unsqueeze": np.expand_dims,
    "squeeze": np.squeeze,
    "flatten": _flatten,
    "narrow": _narrow,
    "slice": _slice,
    "cat": np.concatenate,
    "clamp": np.clip,
    "ones": np.ones,
    "tril": np.tril,
    "gt": np.greater,
}


def glue(step):
    return GLUE.get(step.base)
