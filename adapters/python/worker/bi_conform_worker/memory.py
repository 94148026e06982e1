"""Bytes of a tensor between guards, in this process's memory."""
import ctypes

POISON = 0xFF  # in every byte: NaN in all float types, and no NaN that an operation makes
GUARD = 0xA5
GUARD_BYTES = 1024
ALIGNMENT = 64


def first_inside(address):
    """Where the tensor's bytes begin in a block at `address`: behind the guard, aligned."""
    return GUARD_BYTES + -(address + GUARD_BYTES) % ALIGNMENT


def block_bytes(size):
    return size + 2 * GUARD_BYTES + ALIGNMENT


class HostMemory:
    """`view(memory, kind, shape, strides, offset)` makes an array over bytes."""

    def __init__(self, size, view):
        self._view, self._all = view, bytearray([GUARD]) * block_bytes(size)
        start = first_inside(ctypes.addressof(ctypes.c_char.from_buffer(self._all)))
        self._inside = slice(start, start + size)
        self._all[self._inside] = bytes([POISON]) * size

    def array(self, kind, shape, strides, offset):
        """Over the tensor's bytes; strides in elements, offset in bytes."""
        return self._view(self._all, kind, shape, strides, self._inside.start + offset)

    def clone(self):
        copy = object.__new__(HostMemory)
        copy._view, copy._all, copy._inside = self._view, bytearray(self._all), self._inside
        return copy

    def stored(self):
        """The tensor's bytes."""
        return memoryview(self._all)[self._inside]

    def same_inside(self, other):
        return self.stored() == other.stored()

    def same_guards(self, other):
        start, end = self._inside.start, self._inside.stop
        return (self._all[:start] == other._all[:start]
                and self._all[end:] == other._all[end:])
