"""Frames on the Unix socket: four bytes of length, little-endian, then that many bytes of JSON."""
import array
import json
import mmap
import os
import socket

SOCKET = 3
MOST_BYTES = 64 << 20
MOST_DESCRIPTORS = 4


class Channel:
    def __init__(self, descriptor=SOCKET):
        self._socket = socket.socket(fileno=descriptor)

    def close(self):
        self._socket.close()

    def receive(self):
        """The next message and the descriptors beside it, or None when the other side closed."""
        head, descriptors = self._head()
        if len(head) < 4:
            return None
        length = int.from_bytes(head, "little")
        if length > MOST_BYTES:
            raise ValueError("a frame announces more than 64 MiB")
        text = self._read(length)
        return None if text is None else (json.loads(text), descriptors)

    def send(self, body):
        # A lone surrogate in a subject's message has no UTF-8.
        text = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        if len(text) > MOST_BYTES:
            raise ValueError("a message is over the frame limit")
        self._socket.sendall(len(text).to_bytes(4, "little") + text)

    def _head(self):
        room = socket.CMSG_SPACE(MOST_DESCRIPTORS * 4)
        head, beside, _, _ = self._socket.recvmsg(4, room, socket.MSG_CMSG_CLOEXEC)
        descriptors = array.array("i")
        for level, kind, content in beside:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(content[: len(content) - len(content) % 4])
        if 0 < len(head) < 4:
            head += self._read(4 - len(head)) or b""
        return head, list(descriptors)

    def _read(self, size):
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(size - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)


def map_memory(descriptor, size):
    """Memory made by the parent. The descriptor is closed: the mapping lives on."""
    try:
        if os.fstat(descriptor).st_size < size:
            raise ValueError(f"shared memory is smaller than the {size} bytes announced")
        return mmap.mmap(descriptor, size) if size else bytearray()
    finally:
        os.close(descriptor)
