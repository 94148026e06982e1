"""Where the elements of a trial's tensors lie, in elements: the same rules as the parent's."""
import re
from dataclasses import dataclass

SIZES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp64": 8, "int64": 8, "bool": 1}
QUIET_NAN = {"fp32": 0x7FC00000, "bf16": 0x7FC0, "fp16": 0x7E00, "fp64": 0x7FF8000000000000}
MINUS_INF = {"fp32": -0x800000, "bf16": -0x80, "fp16": -0x400, "fp64": -0x10000000000000}


@dataclass(frozen=True)
class Plan:
    shape: tuple
    strides: tuple
    offset: int  # of the first element from an aligned address
    storage: int  # elements, offset included


def is_batch_axis(axis):
    return axis == "B" or axis.endswith("*B")


def axis_extent(axis, dims, batch):
    """The extent of "k", "8", "2*ho+kh-2", "B" or "t*B"."""
    if axis == "B":
        return batch
    if is_batch_axis(axis):
        return axis_extent(axis[:-2], dims, 1) * batch
    extent = 0
    for sign, term in re.findall(r"([+-]?)([^+-]+)", axis):
        product = 1
        for factor in term.split("*"):
            product *= dims[factor] if factor in dims else int(factor)
        extent += -product if sign == "-" else product
    if extent < 1:
        raise ValueError(f"axis '{axis}' comes to {extent}")
    return extent


def batch_axis(tensor):
    return next((i for i, axis in enumerate(tensor["axes"]) if is_batch_axis(axis)), -1)


def _memory_order(rank, storage):
    """The axes, outermost first."""
    order = list(range(rank))
    if storage == "transposed" and rank >= 2:
        order[-1], order[-2] = order[-2], order[-1]
    if storage == "outer-swapped" and rank >= 3:
        order[0], order[1] = order[1], order[0]
    return order


def plan_tensor(problem, tensor, trial):
    """Shape and strides of a tensor of the problem in a trial."""
    dims = dict(problem["dims"])
    if trial["pad"] > 0:
        dims[trial["pad_dim"]] += trial["pad"]
    shape = [axis_extent(axis, dims, len(trial["slots"])) for axis in tensor["axes"]]
    strides = [1] * len(shape)
    stacked = batch_axis(tensor)
    expanded = trial["storage"] == "expanded" and stacked >= 0 and tensor["axes"][stacked] == "B"
    order = _memory_order(len(shape), trial["storage"])
    step = 1
    for axis in reversed(order):
        strides[axis] = 0 if expanded and axis == stacked else step
        if strides[axis]:
            step *= shape[axis]
        if axis == order[-1] and len(order) >= 2:
            step += trial["row_gap"]
    return Plan(tuple(shape), tuple(strides), trial["offset"], trial["offset"] + step)


def block_shape(problem, tensor):
    """The shape of one sample's block in the pool."""
    return tuple(axis_extent(axis, problem["dims"], 1) for axis in tensor["axes"])


def dense_strides(shape):
    strides, step = [1] * len(shape), 1
    for axis in reversed(range(len(shape))):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)
