#!/usr/bin/env python3
"""Tensors and runs of the Python worker by device: torch_device_test.py PROGRAM, run as torch_test.py.

On the CPU they are the same code; what needs a GPU is skipped where this torch reaches none.
"""
import json
import unittest

import torch

import torch_test
from bi_conform_worker import torch_host
from bi_conform_worker.imported import UsageError
from bi_conform_worker.placed import Placed, copy_elements, gather

ROWS = {"name": "x", "axes": ["B", "k"], "elements": "fp32", "pool_offset": 0, "pool_stride": 12,
        "masks": False}
PROBLEM = {"dims": {"k": 3}, "output": dict(ROWS, name="y")}
TRIAL = {"slots": [2, 0], "offset": 1, "row_gap": 2, "storage": "row-major", "pad_dim": "",
         "pad": 0, "pad_nan": False}


class Memory(unittest.TestCase):
    """On the CPU; the subclass below asks the same of a GPU, where there is one."""
    DEVICE = "cpu"

    def setUp(self):
        torch_host.use(self.DEVICE)
        self.addCleanup(torch_host.use, "cpu")
        samples = torch.arange(9, dtype=torch.float32).reshape(3, 3)
        samples.view(torch.int32)[2, 1] = 0x7FA00001  # a signalling NaN keeps its payload
        self.samples, self.pool = samples, bytearray(samples.numpy().tobytes())

    def gathered(self, **trial):
        pool = torch_host.resident(self.pool)
        placed = gather(torch_host, PROBLEM, ROWS, {**TRIAL, **trial}, pool)
        placed.remember()
        return placed

    def test_holds_the_blocks_of_the_slots_bit_by_bit(self):
        for trial in ({}, {"storage": "transposed"}, {"row_gap": 0}, {"offset": 5}):
            x = self.gathered(**trial).array
            self.assertTrue(torch_test.same_bytes(x.cpu(), self.samples[[2, 0]]), trial)
            self.assertEqual(x.data_ptr() % 64, 4 * trial.get("offset", 1))
            self.assertEqual(str(x.device).partition(":")[0], self.DEVICE)

    def test_is_filled_where_it_is_padded(self):
        x = self.gathered(pad_dim="k", pad=1, pad_nan=True).array
        self.assertTrue(torch.isnan(x[:, 3]).all())
        scores = dict(ROWS, elements="bf16", pool_stride=6, masks=True)
        trial = {**TRIAL, "pad_dim": "k", "pad": 1}
        x = gather(torch_host, PROBLEM, scores, trial, torch_host.resident(self.pool)).array
        self.assertTrue((x[:, 3] == -torch.inf).all())

    def test_that_is_changed_is_seen(self):
        placed = self.gathered()
        self.assertFalse(placed.changed())
        placed.array[1, 1] += 1
        self.assertTrue(placed.changed())
        self.assertFalse(placed.changed_between_elements())
        placed.array.as_strided((2, 4), (5, 1))[0, 3] = 0
        self.assertTrue(placed.changed_between_elements())
        self.assertTrue(placed.guards_hold())

    def test_beside_a_tensor_is_guarded_on_both_sides(self):
        for step in (-2, 10):
            placed = self.gathered()
            first = placed.array.storage_offset()
            placed.array.as_strided((1,), (1,), first + step)[0] = 0
            self.assertFalse(placed.guards_hold(), step)

    def test_of_an_output_is_poison_until_it_is_written(self):
        y = Placed(torch_host, PROBLEM["output"], self.gathered().plan).array
        output = torch_host.shared(bytearray(64))
        self.assertEqual(copy_elements(torch_host, y, 4, output), 6)
        y[0] = 1
        self.assertEqual(copy_elements(torch_host, y.t(), 4, output), 3)
        self.assertEqual(output.view(torch.float32)[[0, 2, 4]].tolist(), [1, 1, 1])

    def test_is_digested_by_its_bytes(self):
        one, same, other = (self.gathered(slots=s).stored() for s in ([2, 0], [2, 0], [2, 1]))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    def test_of_what_a_call_makes_from_nothing_is_on_the_device(self):
        ones = torch_test.call("(y) = aten::ones.default([h])", []).run({})
        self.assertEqual(ones.device, torch_host.DEVICE)

    def test_of_no_device_is_refused(self):
        with self.assertRaisesRegex(UsageError, "cannot use the device 'cuda:99'"):
            torch_host.use("cuda:99")


@unittest.skipUnless(torch.cuda.is_available(), "this torch reaches no GPU")
class MemoryOfAGpu(Memory):
    DEVICE = "cuda"

    def test_names_the_device_and_its_settings(self):
        self.assertRegex(torch_host.device_name(), r"\Acuda:0 \S")
        settings = torch_host.fingerprint()
        self.assertEqual(settings["cuda"], torch.version.cuda)
        self.assertLessEqual({"compute_capability", "matmul_tf32", "blas_library"}, set(settings))

    def test_that_the_allocator_gives_next_is_poison(self):
        torch_host.make_poison(4096)
        fresh = torch.empty(4096, dtype=torch.uint8, device="cuda")
        self.assertTrue((fresh == 0xFF).all())

    def test_of_a_lost_device_is_known(self):
        self.assertFalse(torch_host.is_lost())


class Run(torch_test.ProgramRun):
    def device_of_the_report(self):
        return json.loads((self.folder / "report.json").read_text())["subject"]["device"]

    @unittest.skipIf(torch.cuda.is_available(), "a GPU is there")
    def test_on_a_device_that_is_not_there_is_one_line(self):
        ran = self.judge(torch_test.EXAMPLES / "torch_functions.py", "--op", "mm", "--device", "cuda")
        self.assertEqual((ran.returncode, ran.stderr.count("\n")), (2, 1), ran.stderr)
        self.assertIn("cannot use the device 'cuda'", ran.stderr)

    @unittest.skipUnless(torch.cuda.is_available(), "this torch reaches no GPU")
    def test_on_a_gpu_conforms_or_fails_as_on_the_cpu(self):
        for backend, dtype, code in (("torch_functions.py", "bf16", 0),
                                     ("torch_overrides.py:invariant_mode", "fp32", 0),
                                     ("torch_overrides.py:varying_mode", "fp32", 1)):
            with self.subTest(backend):
                ran = self.judge(torch_test.EXAMPLES / backend, "--op", "mm", "--dtype", dtype,
                                 "--device", "cuda")
                self.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
                self.assertRegex(self.device_of_the_report(), r"\Acuda:0 \S")

    @unittest.skipUnless(torch.cuda.is_available(), "this torch reaches no GPU")
    def test_of_an_illegal_access_costs_the_case_and_no_other(self):
        module = self.write("""
            import torch
            def mm(a, b):
                y = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
                for k in range(a.shape[1]):
                    y += a[:, k, None] * b[k]
                if a.shape[0] == 33:  # an index that the device checks, which ends its context
                    y[torch.tensor([10**9], device=a.device)] = 0
                return y
        """)
        ran = self.judge(module, "--op", "mm", "--dtype", "fp32", "--relation", "alone",
                         "--dims", "k=64,n=8", "--batch", "1,5,33", "--device", "cuda")
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        cases = json.loads((self.folder / "report.json").read_text())["cases"]
        struck = [c for c in cases if ":B33" in c["case"]]
        self.assertTrue(struck)
        for case in cases:
            self.assertEqual(case["status"], "crash" if case in struck else "pass", case)

    def test_on_the_cpu_by_name_is_the_default(self):
        ran = self.judge(torch_test.EXAMPLES / "torch_functions.py", "--op", "mm", "--dtype", "fp32",
                         "--relation", "repeat", "--device", "cpu")
        self.assertEqual((ran.returncode, ran.stderr), (3, ""), ran.stdout)
        self.assertEqual(self.device_of_the_report(), "cpu")


if __name__ == "__main__":
    unittest.main()
