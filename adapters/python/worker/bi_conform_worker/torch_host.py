"""Tensors as torch's, on the CPU."""
import torch

NAME = "torch"
DTYPES = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp64": torch.float64,
    "int64": torch.int64,
    "bool": torch.bool,
}
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def dtype(name):
    return DTYPES[name]


def view(memory, kind, shape, strides, offset):
    """A tensor over memory; strides in elements, offset in bytes."""
    elements = (len(memory) - offset) // kind.itemsize
    return torch.frombuffer(memory, dtype=kind, count=elements, offset=offset).as_strided(
        shape, strides)


def copy(to, source):
    to.copy_(source)


def count_ones(bits):
    """Elements all of whose bits are 1."""
    return int((bits == -1).sum())


def address(x):
    return x.data_ptr()


def strides(x):
    return list(x.stride())


def is_same(x, y):
    """The same elements at the same place."""
    return (x.data_ptr(), x.shape, x.stride(), x.dtype) == (
        y.data_ptr(), y.shape, y.stride(), y.dtype)


def imported(y):
    """What a call returned as a tensor, by DLPack where it is another library's."""
    if not isinstance(y, torch.Tensor):
        if not hasattr(y, "__dlpack__"):
            raise TypeError(f"the call returned {type(y).__name__}, no tensor")
        y = torch.from_dlpack(y)
    if y.layout != torch.strided or y.device.type != "cpu":
        raise TypeError("the output is no strided CPU tensor")
    return y.detach()


def describe(y):
    return NAMES.get(y.dtype, str(y.dtype).rpartition(".")[2]), list(y.shape), y.itemsize


def fingerprint():
    return {"torch": torch.__version__,
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "deterministic": str(torch.are_deterministic_algorithms_enabled()).lower()}


def set_threads(count):
    if torch.get_num_threads() == count:
        return
    torch.set_num_threads(count)
    torch.ones(1 << 17).add_(1)  # the pool takes its new size here, not inside a trial


def overload(step):
    """torch.ops' callable of a step of a call text. Raises when torch has none."""
    space, _, base = step.op.partition("::")
    return getattr(getattr(getattr(torch.ops, space), base), step.overload or "default")


def glue(step):
    return overload(step)
