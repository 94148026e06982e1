"""Tensors as torch's, on the device that `use` chose."""
import ctypes

import torch

from .imported import UsageError, one_line
from .memory import GUARD, POISON, block_bytes, first_inside

NAME = "torch"
DEVICE = torch.device("cpu")
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


def use(device):
    """Tensors lie on this device from now on. Raises UsageError when torch cannot reach it."""
    global DEVICE
    try:
        # An allocation: it names the index, and fails where no driver or no such device is.
        DEVICE = torch.empty(1, device=device).device
    except Exception as error:  # torch built without CUDA raises AssertionError
        raise UsageError(f"torch {torch.__version__} cannot use the device '{device}': "
                         f"{one_line(error)}") from error


def on_cuda():
    return DEVICE.type == "cuda"


def computes_on_host():
    return not on_cuda()


def device_name():
    """"cpu", or as in "cuda:0 NVIDIA H200"."""
    return f"{DEVICE} {torch.cuda.get_device_name(DEVICE)}" if on_cuda() else str(DEVICE)


class DeviceMemory:
    """Bytes of a tensor between guards, on the device."""

    def __init__(self, size):
        self._all = torch.full((block_bytes(size),), GUARD, dtype=torch.uint8, device=DEVICE)
        self._start, self._size = first_inside(self._all.data_ptr()), size
        self._inside().fill_(POISON)

    def _inside(self):
        return self._all[self._start:self._start + self._size]

    def array(self, kind, shape, strides, offset):
        """Over the tensor's bytes; strides in elements, offset in bytes."""
        return view(self._inside(), kind, shape, strides, offset)

    def clone(self):
        copy = object.__new__(DeviceMemory)
        copy._all, copy._start, copy._size = self._all.clone(), self._start, self._size
        return copy

    def stored(self):
        """The tensor's bytes."""
        here = self._inside().cpu()
        return ctypes.string_at(here.data_ptr(), self._size)

    def same_inside(self, other):
        return torch.equal(self._inside(), other._inside())

    def same_guards(self, other):
        end = self._start + self._size
        return (torch.equal(self._all[:self._start], other._all[:self._start])
                and torch.equal(self._all[end:], other._all[end:]))


guarded = DeviceMemory


def shared(memory):
    """Bytes of the parent's as a tensor of the host's memory."""
    if not len(memory):
        return torch.empty(0, dtype=torch.uint8)
    return torch.frombuffer(memory, dtype=torch.uint8)


def resident(memory):
    """Bytes of the parent's, where tensors are made of them: a copy, but on the CPU."""
    return shared(memory).to(DEVICE)


def view(memory, kind, shape, strides, offset):
    """A tensor over bytes; strides in elements, offset in bytes."""
    end = len(memory) - (len(memory) - offset) % kind.itemsize
    return memory[offset:end].view(kind).as_strided(shape, strides)


def copy(to, source):
    to.copy_(source)


def count_ones(bits):
    """Elements all of whose bits are 1."""
    return int((bits == -1).sum())


def address(x):
    return x.data_ptr()


def cloned(x):
    return x.clone()


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
    if y.layout != torch.strided or y.device != DEVICE:
        raise TypeError(f"the output is no strided tensor on {DEVICE}")
    return y.detach()


def describe(y):
    return NAMES.get(y.dtype, str(y.dtype).rpartition(".")[2]), list(y.shape), y.itemsize


def synchronize():
    """Waits for the device: an error of a kernel is raised here, not at the next case."""
    if on_cuda():
        torch.cuda.synchronize(DEVICE)


def is_lost():
    """Whether the device answers nothing any more, as after an illegal access."""
    try:
        synchronize()
        return False
    except Exception:
        return True


def make_poison(size):
    """What the caching allocator gives next for so many bytes is poison, as far as it has it."""
    if on_cuda():
        torch.full((max(1, size),), POISON, dtype=torch.uint8, device=DEVICE)


def fingerprint():
    settings = {"torch": torch.__version__,
                "cpu_capability": torch.backends.cpu.get_cpu_capability(),
                "deterministic": torch.are_deterministic_algorithms_enabled()}
    if on_cuda():
        settings.update(_cuda_settings())
    return {name: text if isinstance(text, str) else str(text).lower()
            for name, text in settings.items()}


def _cuda_settings():
    """Versions and switches that choose kernels or their precision."""
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    device = torch.cuda.get_device_properties(DEVICE)
    settings = {"cuda": torch.version.cuda,
                "device_name": device.name,
                "compute_capability": f"{device.major}.{device.minor}",
                "multiprocessors": device.multi_processor_count}
    switches = {"cudnn": lambda: cudnn.version(),
                "matmul_precision": lambda: torch.get_float32_matmul_precision(),
                "matmul_tf32": lambda: cuda.matmul.allow_tf32,
                "fp16_reduction": lambda: cuda.matmul.allow_fp16_reduced_precision_reduction,
                "bf16_reduction": lambda: cuda.matmul.allow_bf16_reduced_precision_reduction,
                "blas_library": lambda: cuda.preferred_blas_library(),
                "cudnn_tf32": lambda: cudnn.allow_tf32,
                "cudnn_benchmark": lambda: cudnn.benchmark,
                "cudnn_deterministic": lambda: cudnn.deterministic}
    return {**settings, **{name: _read(switch) for name, switch in switches.items()}}


def _read(switch):
    """Which switches torch has, and when they can be read, depends on its version."""
    try:
        return switch()
    except Exception as error:
        return one_line(error)


def set_threads(count):
    if torch.get_num_threads() == count:
        return
    torch.set_num_threads(count)
    torch.ones(1 << 17).add_(1)  # the pool takes its new size here, not inside a trial


def overload(step):
    """torch.ops' callable of a step of a call text. Raises when torch has none."""
    space, _, base = step.op.partition("::")
    return getattr(getattr(getattr(torch.ops, space), base), step.overload or "default")


def call(step, positional, named):
    """The step's operator; what it makes from nothing lies on the device."""
    operator = overload(step)
    if any(a.name == "device" for a in operator._schema.arguments):
        named = {"device": DEVICE, **named}
    return operator(*positional, **named)


def glue(step):
    overload(step)  # raises here when torch has none
    return lambda *positional, **named: call(step, positional, named)
