#!/usr/bin/env python3
"""The parts of the Python worker by themselves: call texts, layouts, memory, the team's witness.

Needs NumPy; runs itself again with Debian's Python where the one at hand has none."""
import ctypes
import os
import pathlib
import socket
import sys
import tempfile
import threading
import time
import unittest

try:
    import numpy as np
except ModuleNotFoundError:
    if sys.executable == "/usr/bin/python3":
        sys.exit("this Python has no NumPy; ci/setup installs Debian's python3-numpy")
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "worker"))

from bi_conform_worker import channel, layout, numpy_host  # noqa: E402
from bi_conform_worker.call_text import CallTextError, Name, parse_attribute, parse_call  # noqa: E402
from bi_conform_worker.placed import copy_elements, gather, room_for  # noqa: E402
from bi_conform_worker.witness import Team, set_poison  # noqa: E402

GOLDEN = HERE.parent / "libtorch" / "golden_calls.txt"
ROWS = {"name": "x", "axes": ["B", "k"], "elements": "fp32", "pool_offset": 0, "pool_stride": 12,
        "masks": False}
PROBLEM = {"dims": {"k": 3}, "output": dict(ROWS, name="y")}
TRIAL = {"slots": [2, 0], "offset": 0, "row_gap": 0, "storage": "row-major", "pad_dim": "",
         "pad": 0, "pad_nan": False}


class CallText(unittest.TestCase):
    def test_of_every_golden_line_is_read(self):
        lines = [line.split("\t") for line in GOLDEN.read_text().splitlines() if line[0] != "#"]
        self.assertGreater(len(lines), 15)
        for name, text in lines:
            with self.subTest(name):
                self.assertTrue(all(s.op.startswith("aten::") for s in parse_call(text)))

    def test_has_targets_names_literals_and_lists(self):
        first, second = parse_call('(_, y) = a::f.out([x, None], -1, 0x1p-10, z=True); a::g_(y, "q")')
        self.assertEqual((first.targets, first.op, first.overload), (["_", "y"], "a::f", "out"))
        self.assertEqual(first.positional, [[Name("x"), None], -1, 2.0**-10])
        self.assertEqual(first.named, {"z": True})
        self.assertEqual((second.base, second.positional), ("g_", [Name("y"), "q"]))
        self.assertEqual(parse_call("y = a::f.default(1e-5, 2.5)")[0].positional, [1e-5, 2.5])

    def test_that_is_wrong_names_the_place(self):
        for text in ("", "mm(x)", "y = aten::mm(x", "y = aten::mm(x w)", "aten::f(a=1, 2)", "a::f(-)"):
            with self.subTest(text), self.assertRaisesRegex(CallTextError, "offset"):
                parse_call(text)

    def test_of_an_attribute_is_a_literal_or_a_string(self):
        read = [parse_attribute(t) for t in ("0x1p-10", "3", "True", "None", "tanh", "[1, 2]")]
        self.assertEqual(read, [2.0**-10, 3, True, None, "tanh", [1, 2]])


class Layout(unittest.TestCase):
    def plan(self, axes, dims, **trial):
        return layout.plan_tensor({"dims": dims}, {"axes": axes}, {**TRIAL, **trial})

    def test_of_axis_texts_is_linear_in_the_dims(self):
        dims = {"ho": 5, "kh": 3, "t": 4}
        for axis, extent in (("8", 8), ("2*ho+kh-2", 11), ("B", 7), ("t*B", 28), ("8*B", 56)):
            self.assertEqual(layout.axis_extent(axis, dims, 7), extent, axis)

    def test_is_that_of_the_trial(self):
        wide = self.plan(["B", "k"], {"k": 3}, row_gap=5, offset=2)
        self.assertEqual(wide, layout.Plan((2, 3), (8, 1), 2, 18))
        turned = self.plan(["B", "k"], {"k": 3}, storage="transposed")
        self.assertEqual(turned.strides, (1, 2))
        swapped = self.plan(["B", "s", "k"], {"s": 4, "k": 3}, storage="outer-swapped")
        self.assertEqual(swapped.strides, (3, 6, 1))
        one = self.plan(["B", "k"], {"k": 3}, storage="expanded")
        self.assertEqual((one.strides, one.storage), ((0, 1), 3))
        padded = self.plan(["B", "k"], {"k": 3}, pad_dim="k", pad=2)
        self.assertEqual(padded.shape, (2, 5))


class Memory(unittest.TestCase):
    def setUp(self):
        self.samples = np.arange(9, dtype=np.float32).reshape(3, 3)
        self.samples.view(np.uint32)[2, 1] = 0x7FA00001  # a signalling NaN keeps its payload
        self.pool = bytearray(self.samples.tobytes())

    def gathered(self, **trial):
        placed = gather(numpy_host, PROBLEM, ROWS, {**TRIAL, **trial}, self.pool)
        placed.remember()
        return placed

    def test_holds_the_blocks_of_the_slots_bit_by_bit(self):
        for trial in ({}, {"row_gap": 3}, {"storage": "transposed"}, {"offset": 5}):
            x = self.gathered(**trial).array
            self.assertEqual(x.tobytes(), self.samples[[2, 0]].tobytes(), trial)
            self.assertEqual(x.ctypes.data % 64, 4 * trial.get("offset", 0) % 64)
        padded = self.gathered(pad_dim="k", pad=1, pad_nan=True).array
        self.assertTrue(np.isnan(padded[:, 3]).all())

    def test_of_scores_is_padded_with_minus_infinity(self):
        kinds = {"fp32": np.float32, "fp16": np.float16, "fp64": np.float64}
        for elements, kind in kinds.items():
            tensor = dict(ROWS, elements=elements, pool_stride=3 * kind().itemsize, masks=True)
            trial = {**TRIAL, "pad_dim": "k", "pad": 1, "pad_nan": True}
            x = gather(numpy_host, PROBLEM, tensor, trial, bytearray(72)).array
            self.assertTrue((x[:, 3] == -np.inf).all(), elements)
            self.assertTrue((x[:, :3] == 0).all(), elements)

    def test_that_is_changed_is_seen(self):
        placed = self.gathered(row_gap=1)
        self.assertFalse(placed.changed())
        placed.array[1, 1] += 1
        self.assertTrue(placed.changed())
        self.assertFalse(placed.changed_between_elements())
        gap = np.lib.stride_tricks.as_strided(placed.array, (2, 4))
        gap[0, 3] = 0
        self.assertTrue(placed.changed_between_elements())
        self.assertTrue(placed.guards_hold())

    def test_beside_a_tensor_is_guarded_on_both_sides(self):
        for step in (-1, 6):
            placed = self.gathered()
            beside = ctypes.cast(placed.array.ctypes.data, ctypes.POINTER(ctypes.c_float))
            beside[step] = 0
            self.assertFalse(placed.guards_hold(), step)

    def test_of_an_output_is_poison_until_it_is_written(self):
        y, output = room_for(numpy_host, PROBLEM, TRIAL).array, bytearray(64)
        self.assertEqual(copy_elements(numpy_host, y, 4, output), 6)
        y[0] = 1
        self.assertEqual(copy_elements(numpy_host, y.T, 4, output), 3)
        self.assertEqual(np.frombuffer(output, np.float32)[[0, 2, 4]].tolist(), [1, 1, 1])
        self.assertEqual(copy_elements(numpy_host, y, 4, bytearray(8)), 0)

    def test_that_is_fresh_is_poison(self):
        for elements in (1000, 1 << 20):
            set_poison(True)
            fresh = np.empty(elements, np.float32)
            set_poison(False)
            self.assertTrue(np.isnan(fresh).all())


class Witness(unittest.TestCase):
    def test_of_a_team_counts_the_threads_that_were_woken(self):
        wake = [threading.Event() for _ in range(3)]
        done = threading.Semaphore(0)

        def work(event):
            event.wait()
            done.release()

        threads = [threading.Thread(target=work, args=(e,), daemon=True) for e in wake]
        for t in threads:
            t.start()
        time.sleep(0.05)
        team = Team()
        for event in wake[:2]:
            event.set()
        for _ in wake[:2]:
            done.acquire()
        self.assertEqual(team.largest(), 3)
        wake[2].set()
        for t in threads:
            t.join()
        for _ in range(100):
            self.assertEqual(Team().largest(), 1)

    def test_of_threads_that_came_and_went_is_never_that_there_were_none(self):
        for _ in range(20):
            self.assertNotEqual(self.team_of_short_lives(), 1)

    @staticmethod
    def team_of_short_lives():
        team = Team()
        for thread in [threading.Thread(target=sum, args=(range(1000),)) for _ in range(2)]:
            thread.start()
            thread.join()
        return team.largest()


class Frames(unittest.TestCase):
    def test_carry_json_and_descriptors(self):
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        end = channel.Channel(theirs.detach())
        text = b'{"do": "load"}'
        with tempfile.TemporaryFile() as file:
            file.write(b"pool")
            file.flush()
            socket.send_fds(mine, [len(text).to_bytes(4, "little")[:1]], [file.fileno()])
        mine.sendall(len(text).to_bytes(4, "little")[1:] + text)
        body, descriptors = end.receive()
        self.assertEqual(body, {"do": "load"})
        self.assertEqual(bytes(channel.map_memory(descriptors[0], 4)), b"pool")
        end.send({"message": "\udc80"})
        self.assertIn(b"?", mine.recv(100)[4:])
        mine.close()
        self.assertIsNone(end.receive())
        end.close()


if __name__ == "__main__":
    unittest.main()
