"""What the process can see of itself: its threads, its libraries; and the poison of its heap."""
import ctypes
import os
import re
import time

M_PERTURB = -6
FILL_FRESH_WITH_ONES = 0x100  # glibc writes the complement of its low byte to what malloc returns
SHORTEST_LIFE = 10_000  # nanoseconds of processor time; a thread that is made and ends takes more
LONGEST_SETTLING = 1.0  # seconds; some pools spin 20 ms before they sleep, more under load


def set_poison(on):
    """From now on malloc's fresh blocks are 0xFF (those of 1 KiB and more), where glibc has it."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_PERTURB, FILL_FRESH_WITH_ONES if on else 0)


def _others_ns():
    """Processor time of all threads but this one, also of those that ended.

    The largest of three, because an interrupt between the two clocks makes it smaller.
    """
    return max(time.process_time_ns() - time.thread_time_ns() for _ in range(3))


def _others():
    """The threads of this process but this one."""
    mine = str(_gettid())
    return [t for t in os.listdir("/proc/self/task") if t != mine]


def _gettid():
    return int(os.readlink("/proc/thread-self").rpartition("/")[2])


def _read(thread, what):
    try:
        with open(f"/proc/self/task/{thread}/{what}", encoding="ascii") as file:
            return file.read()
    except OSError:  # it ended
        return None


class Team:
    """Counts the threads that the scheduler ran during a call: the largest team, seen from outside.

    A thread that was asleep before the call and was switched to during it took part.
    """

    def __init__(self):
        self.quiet = self._settle()
        self._before = self._switches()
        self._others_ns = _others_ns()

    @staticmethod
    def _settle():
        """Waits until all others sleep, so that who is switched to later was woken by the call."""
        deadline, before = time.monotonic() + LONGEST_SETTLING, None
        while True:
            states = [_read(t, "stat") for t in _others()]
            spent = _others_ns()
            # One that is on its way to sleep is no longer called running, but still runs.
            still = not states or before is not None and spent - before < SHORTEST_LIFE // 4
            if still and not any(s and s.rpartition(")")[2].split()[0] == "R" for s in states):
                return True
            if time.monotonic() > deadline:
                return False
            before = spent
            time.sleep(0.0002)

    @staticmethod
    def _switches():
        """Times that each thread was switched to; None where the kernel does not count them."""
        counts = {}
        for thread in _others():
            text = _read(thread, "schedstat")
            if text is None and os.path.exists(f"/proc/self/task/{thread}"):
                return None
            if text is not None:
                counts[thread] = int(text.split()[2])
        return counts

    def largest(self):
        """The threads that ran, this one included; -1 when that cannot be seen."""
        others_ns = _others_ns() - self._others_ns
        after = self._switches()
        if after is None or self._before is None or not self.quiet:
            return -1
        woken = sum(count != self._before.get(thread) for thread, count in after.items())
        ended = len(set(self._before) - set(after))
        if woken + ended == 0 and others_ns > SHORTEST_LIFE:
            return -1  # threads came and went within the call
        return 1 + woken + ended


def mapped_libraries():
    """Numerical libraries of this process, by their files."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = set(re.findall(r"(/\S*\.so\S*)$", maps.read(), re.MULTILINE))
    wanted = re.compile(r"(blas|mkl|dnnl|blis|libgomp|libomp|libiomp|_multiarray_umath|libtorch_cpu"
                        r"|libc10\.|libtorch\.|libtorch_cuda|libc10_cuda|cudart|cudnn|nvrtc)")
    return sorted(p for p in paths if wanted.search(os.path.basename(p)))
