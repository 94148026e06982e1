#!/usr/bin/env python3
"""The Python worker with a torch of its own: torch_test.py PROGRAM, run by a Python that has torch.

CTest knows it when BIC_PYTHON_TORCH names that Python; it is no default test, because torch with all
that it depends on takes some gigabytes.
"""
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

import torch

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE / "examples"
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(HERE / "worker"))

from bi_conform_worker import models, torch_host  # noqa: E402
from bi_conform_worker.overrides import Overrides  # noqa: E402
from bi_conform_worker.trials import Call  # noqa: E402
from bi_conform_worker.witness import Team  # noqa: E402

aten = torch.ops.aten
DIMS = {"h": 8, "m": 3}
ATTRIBUTES = {"eps": "0x1p-10", "beta": "0x1p-1", "alpha": "2", "approximate": "tanh",
              "keepdim": "True", "shape": "[2, 3, 8]"}
DIRECT = {
    "mm": lambda t: t.x @ t.w,
    "mm_out": lambda t: torch.mm(t.x, t.w, out=t.y),
    "linear": lambda t: torch.nn.functional.linear(t.x, t.v, t.b),
    "linear_none": lambda t: torch.nn.functional.linear(t.r, t.v),
    "addmm": lambda t: torch.addmm(t.z, t.x, t.w, beta=0.5, alpha=2),
    "sum_list": lambda t: t.r.sum([1, -1], True),
    "sum_single": lambda t: t.r.sum(1),
    "sum_dtype": lambda t: t.x.sum(1, dtype=torch.float64),
    "softmax": lambda t: t.x.softmax(-1),
    "layer_norm": lambda t: torch.nn.functional.layer_norm(t.r, [8], t.g, None, 2.0**-10),
    "native_norm": lambda t: torch.native_layer_norm(t.r, [3, 8], None, None, 1e-5)[2],
    "gelu": lambda t: torch.nn.functional.gelu(t.x, approximate="tanh"),
    "gelu_inplace": lambda t: aten.gelu_(t.x),
    "cat": lambda t: torch.cat([t.x, t.x], 1),
    "clamp": lambda t: t.x.clamp(min=-1),
    "reshape": lambda t: t.x.reshape(2, 3, 8),
    "index": lambda t: t.x[t.b.argsort()],
    "two_steps": lambda t: t.x.relu() @ t.w,
}


class Operands:
    def __init__(self):
        torch.manual_seed(7)
        shapes = {"x": (6, 8), "w": (8, 5), "v": (5, 8), "b": (5,), "g": (8,), "r": (2, 3, 8),
                  "z": (6, 5)}
        vars(self).update((name, torch.randn(shape)) for name, shape in shapes.items())
        self.y = torch.full((6, 5), 7.0)


def call(text, names):
    problem = {"dims": DIMS, "attributes": ATTRIBUTES, "output": {"name": "y"}}
    return Call(text, names, problem, torch_host, Overrides([]))


def same_bytes(a, b):
    bits = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[a.itemsize]
    return (a.dtype == b.dtype and a.shape == b.shape
            and torch.equal(a.contiguous().view(bits), b.contiguous().view(bits)))


class Evaluator(unittest.TestCase):
    def test_gives_the_bytes_of_the_direct_calls(self):
        golden = (HERE.parent / "libtorch" / "golden_calls.txt").read_text().splitlines()
        texts = dict(line.split("\t") for line in golden if line[0] != "#")
        self.assertEqual(set(texts), set(DIRECT))
        for name, text in texts.items():
            with self.subTest(name):
                y = call(text, list(vars(Operands()))).run(vars(Operands()))
                self.assertTrue(same_bytes(y, DIRECT[name](Operands())))

    def test_comparison_sees_one_flipped_bit(self):
        x = torch.ones(4)
        y = x.clone()
        y.view(torch.int32)[2] ^= 1
        self.assertFalse(same_bytes(x, y))

    def test_knows_what_is_written(self):
        self.assertTrue(call("(y) = aten::mm.out(x, w, out=y)", ["x", "w", "y"]).writes("y"))
        self.assertFalse(call("(y) = aten::mm.out(x, w, out=y)", ["x", "w", "y"]).writes("x"))
        self.assertTrue(call("aten::gelu_.default(x)", ["x"]).writes("x"))


class Witness(unittest.TestCase):
    def test_of_the_team_is_the_number_of_threads_asked_for(self):
        x = torch.rand(1 << 20)
        for threads in (1, 2, 3, 4, 8, 4, 2, 1):
            torch_host.set_threads(threads)
            teams = set()
            for _ in range(20):
                team = Team()
                x.add(1)
                teams.add(team.largest())
            self.assertEqual(teams, {threads})

    def test_of_an_op_without_a_region_is_one_thread(self):
        torch_host.set_threads(4)
        team = Team()
        torch.ones(4).add(1)
        self.assertEqual(team.largest(), 1)


class Models(unittest.TestCase):
    """Whole models are there for one torch only."""

    def reason(self, **beside):
        """Why they are not, where a worker lies beside files of these texts."""
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(
                sys, "argv", [str(pathlib.Path(folder) / "worker.pyz")]):
            for suffix, text in beside.items():
                (pathlib.Path(folder) / f"libbic_models.{suffix}").write_text(text)
            return models.load()

    def test_that_were_not_built_are_missed(self):
        self.assertIn("built without libbic_models.so", self.reason())
        self.assertIn("built without libbic_models.so", self.reason(so="not loaded"))

    def test_of_another_torch_are_not_even_loaded(self):
        reason = self.reason(so="not loaded", torch="2.10.0 0123456789")
        self.assertIn("built for torch 2.10.0 0123456789", reason)
        self.assertIn(f"this is {torch.__version__} {torch.version.git_version}", reason)

    def test_that_cannot_be_loaded_say_why(self):
        note = f"{torch.__version__} {torch.version.git_version}\n"
        self.assertIn("OSError", self.reason(so="no library", torch=note))


class ProgramRun(unittest.TestCase):
    """Runs the program with this Python."""

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))

    def judge(self, backend, *arguments):
        return subprocess.run(
            [PROGRAM, "--backend", f"python:{backend}", "--python", sys.executable, "--no-perf",
             "--no-shrink", "--jobs", "1", "--out", self.folder, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def write(self, text, name="module"):
        path = self.folder / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        return path

    def support(self, backend):
        ran = subprocess.run(
            [PROGRAM, "support", "--backend", f"python:{backend}", "--python", sys.executable],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        return ran.stdout + ran.stderr


class Run(ProgramRun):
    def test_of_an_invariant_override_conforms(self):
        ran = self.judge(EXAMPLES / "torch_overrides.py:invariant_mode", "--op", "mm")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        self.assertEqual(len(re.findall(r"^mm +\w+ +BI-3", ran.stdout, re.MULTILINE)), 4)

    def test_of_a_varying_override_fails_by_batch(self):
        ran = self.judge(EXAMPLES / "torch_overrides.py:varying_mode", "--op", "mm",
                         "--dtype", "fp32")
        self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        self.assertIn("alone failed", ran.stdout)

    def test_of_a_function_on_tensors_conforms(self):
        ran = self.judge(EXAMPLES / "torch_functions.py", "--op", "mm", "--dtype", "bf16")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)

    def test_of_a_replaced_attribute_reaches_it(self):
        module = self.write("""
            import torch
            def mode():
                stock = torch.mm
                torch.mm = lambda a, b, *, out=None: stock(a, b, out=out)
        """)
        self.assertIn("own: torch.mm", self.support(f"{module}:mode"))

    def test_of_a_module_that_registers_on_import_owns_it(self):
        module = self.write("""
            import torch
            library = torch.library.Library("aten", "IMPL")
            library.impl("_softmax", lambda x, dim, half: torch.ones_like(x), "CPU")
        """)
        self.assertIn("own: aten::_softmax", self.support(module))

    def test_of_an_operator_of_its_own_is_a_declared_op(self):
        module = self.write("""
            import torch
            library = torch.library.Library("mylib", "DEF")
            library.define("fused_rms_norm(Tensor x, Tensor r, Tensor w, float eps) -> Tensor")

            def fused(x, r, w, eps):
                s = x.double() + r.double()
                total = torch.zeros(s.shape[0], dtype=s.dtype)
                for j in range(s.shape[1]):
                    total += s[:, j] * s[:, j]
                root = (total / s.shape[1] + eps).sqrt()
                return (s / root[:, None] * w.double()).to(x.dtype)

            library.impl("fused_rms_norm", fused, "CPU")
        """)
        spec = HERE.parent / "examples" / "fused_rms_norm.json"
        ran = self.judge(module, "--op-spec", spec, "--op", "fused_rms_norm", "--dtype", "bf16",
                         "--level", "BI-2")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertIn("mylib::fused_rms_norm", json.dumps(report["subject"]["manifest"]))

    def test_has_whole_models_on_the_modules_kernels(self):
        ran = self.judge(EXAMPLES / "torch_overrides.py:invariant_mode", "--op", "pi0",
                         "--preset", "tiny", "--dtype", "fp32", "--relation", "repeat")
        self.assertNotIn("exception", ran.stdout + ran.stderr)
        report = json.loads((self.folder / "report.json").read_text())
        (row,) = report["ops"]
        self.assertEqual((row["op"], row["cases"].get("unsupported", 0)), ("pi0", 0), row)
        self.assertGreater(row["cases"].get("pass", 0), 0, row)

    def test_of_batch_invariant_ops_enters_its_mode_by_itself(self):
        self.write("""
            import contextlib
            import torch
            library = torch.library.Library("aten", "IMPL")
            @contextlib.contextmanager
            def set_batch_invariant_mode(enabled=True):
                library.impl("aten::mm", lambda a, b: a, "CPU")
                yield
        """, "batch_invariant_ops")
        self.assertIn("own: aten::mm", self.support("batch_invariant_ops"))

    def test_of_a_registration_for_another_device_owns_nothing(self):
        module = self.write("""
            import torch
            library = torch.library.Library("aten", "IMPL")
            def mode():
                library.impl("mm", lambda a, b: a, "CUDA")
        """)
        self.assertIn("changed no op", self.support(f"{module}:mode"))


if __name__ == "__main__":
    unittest.main()
