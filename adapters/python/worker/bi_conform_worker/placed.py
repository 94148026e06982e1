"""A tensor of a trial in memory of its own, between guards, and what its bytes were."""
from .layout import (MINUS_INF, QUIET_NAN, SIZES, batch_axis, block_shape, dense_strides,
                     plan_tensor)


class Placed:
    def __init__(self, host, tensor, plan):
        self.name, self.plan = tensor["name"], plan
        self._host, self._size = host, SIZES[tensor["elements"]]
        self._memory = host.guarded(plan.storage * self._size)
        self.array = self._view(self._memory, host.dtype(tensor["elements"]))
        self._before = None

    def _view(self, memory, kind):
        return memory.array(kind, self.plan.shape, self.plan.strides,
                            self.plan.offset * self._size)

    def bits(self, memory=None):
        """The elements as integers: a copy of them changes no bit."""
        return self._view(memory or self._memory, self._host.BITS[self._size])

    def fill(self, value):
        """Every element, also what padding adds, gets these bits."""
        self.bits()[...] = value

    def remember(self):
        if self._before is None:
            self._before = self._memory.clone()

    def stored(self):
        """The bytes of its storage, gaps included."""
        return self._memory.stored()

    def guards_hold(self):
        return self._memory.same_guards(self._before)

    def changed(self):
        return not self._memory.same_inside(self._before)

    def changed_between_elements(self):
        expected = self._before.clone()
        self._host.copy(self.bits(expected), self.bits())
        return not self._memory.same_inside(expected)


def _padding(tensor, trial):
    """The bits of what padding appends."""
    special = MINUS_INF if tensor["masks"] else QUIET_NAN if trial["pad_nan"] else {}
    return special.get(tensor["elements"], 0)


def gather(host, problem, tensor, trial, pool):
    """An input, filled with the blocks of the trial's samples."""
    placed = Placed(host, tensor, plan_tensor(problem, tensor, trial))
    size = SIZES[tensor["elements"]]
    if trial["pad"] > 0:
        placed.fill(_padding(tensor, trial))
    shape = block_shape(problem, tensor)
    axis, bits = batch_axis(tensor), placed.bits()
    inner = tuple(slice(0, extent) for extent in shape)
    shared = axis < 0 or placed.plan.strides[axis] == 0
    for place, slot in enumerate(trial["slots"][:1] if shared else trial["slots"]):
        at = tensor["pool_offset"] + slot * tensor["pool_stride"]
        block = host.view(pool, host.BITS[size], shape, dense_strides(shape), at)
        if axis >= 0 and not shared:
            rows = slice(place * shape[axis], (place + 1) * shape[axis])
            inner = inner[:axis] + (rows,) + inner[axis + 1:]
        host.copy(bits[inner], block)
    return placed


def room_for(host, problem, trial):
    """The output given to the `out` form: all poison."""
    return Placed(host, problem["output"], plan_tensor(problem, problem["output"], trial))


def copy_elements(host, y, size, output):
    """Copies the elements row-major to `output` and counts those that are still poison; copies
    nothing where they have no room, which is the case only for a wrong shape or dtype."""
    shape = tuple(y.shape)
    count = 1
    for extent in shape:
        count *= extent
    if count == 0 or count * size > len(output) or size not in host.BITS:
        return 0
    dense = host.view(output, host.BITS[size], shape, dense_strides(shape), 0)
    host.copy(dense, y.view(host.BITS[size]))
    return host.count_ones(dense)
