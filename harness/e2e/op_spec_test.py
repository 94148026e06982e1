#!/usr/bin/env python3
"""An op that only a file of --op-spec knows: honest kernels of it in C, in NumPy and
registered with PyTorch are certified, planted ones fail, and every verb knows the op. The interpreter must have NumPy."""
import hashlib
import json
import pathlib
import re
import shlex
import tempfile
import unittest

import program

ADAPTERS = program.PROJECT / "adapters"
SPEC = ADAPTERS / "examples" / "fused_rms_norm.json"
PLUGINS = program.PROGRAM.parent.parent / "lib" / "plugins"
OP = ("--op-spec", SPEC, "--op", "fused_rms_norm")
PYTHON = program.python_with_numpy()
QUICK = ("--no-perf", "--jobs", "2")


def plugin(name):
    return "--backend", f"plugin:{PLUGINS / name}.so"


def module(name):
    return "--backend", f"python:{ADAPTERS / 'python/examples' / name}.py", "--python", PYTHON


class Declared(program.ProgramTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def judge(self, *arguments, code):
        ran = program.run(*arguments, *QUICK, "--out", self.folder / "out", timeout=600)
        self.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
        return program.parse((self.folder / "out/report.json").read_text()), ran.stdout

    def write(self, **changes):
        """The example with other values; None takes a key away."""
        spec = json.loads(SPEC.read_text()) | changes
        path = self.folder / "changed.json"
        path.write_text(json.dumps({k: v for k, v in spec.items() if v is not None}))
        return path


class Kernels(Declared):
    def assert_certified(self, report, dtypes):
        self.assertEqual([(r["op"], r["dtype"], r["level"]) for r in report["ops"]],
                         [("fused_rms_norm", t, "BI-3") for t in dtypes])
        statuses = {c["status"] for c in report["cases"]}
        self.assertLessEqual(statuses, {"pass", "skipped"})
        self.assertGreater(report["coverage"]["counted"], 0)

    def test_in_c_are_certified(self):
        report, _ = self.judge(*plugin("fused_rms_norm"), *OP, "--dtype", "fp32", code=0)
        self.assert_certified(report, ["fp32"])
        sha256 = hashlib.sha256(SPEC.read_bytes()).hexdigest()
        self.assertEqual(report["suite"]["declared"], [{"op": "fused_rms_norm", "sha256": sha256}])

    def test_in_numpy_are_certified(self):
        report, _ = self.judge(*module("numpy_fused"), *OP, "--dtype", "fp32", "--dtype", "fp16",
                               "--dtype", "fp64", code=0)
        self.assert_certified(report, ["fp32", "fp16", "fp64"])

    def test_registered_with_pytorch_are_certified(self):
        library = f"libtorch:{program.PROGRAM.parent.parent}/lib/libbic_example_fused.so"
        report, _ = self.judge("--backend", library, *OP, "--dtype", "fp32", "--dtype", "bf16",
                               code=0)
        self.assert_certified(report, ["fp32", "bf16"])

    def assert_fails_as_planted(self, backend, dtype):
        report, text = self.judge(*backend, *OP, "--dtype", dtype, code=1)
        failed = {c["case"].split("/")[0] for c in report["cases"] if c["status"] == "fail"}
        self.assertIn("fused_rms_norm.alone", failed)
        reasons = {r for c in report["cases"] if c["status"] == "fail" for r in c["reasons"]}
        self.assertEqual(reasons, {"bits"})
        shrunk = report["failures"][0]
        self.assertLess(self.extent(shrunk["shrunk"]["case"]), self.extent(shrunk["found"]))
        self.assert_line_repeats(text)

    @staticmethod
    def extent(case):
        return int(re.search(r":h(\d+):", case).group(1))

    def assert_line_repeats(self, text):
        line = re.search(r"(?m)^ *repro: (.*)$", text).group(1)
        words = shlex.split(line)
        self.assertIn(str(SPEC), words)
        ran = program.run(*words[words.index("repro"):])
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn("status: fail", ran.stdout)

    def test_in_c_that_see_the_batch_fail(self):
        self.assert_fails_as_planted(plugin("fused_rms_norm_in_parts"), "fp32")

    def test_in_numpy_that_see_the_batch_fail(self):
        self.assert_fails_as_planted(module("numpy_fused_varying"), "fp32")
        self.assert_fails_as_planted(module("numpy_fused_varying"), "fp16")

    def test_of_aten_are_judged_by_their_call(self):
        """A call of ATen's own operators: stock runs it, and a sum of its own order fails."""
        spec = self.write(call=json.loads(SPEC.read_text())["reference"])
        report, _ = self.judge("--backend", "libtorch", "--op-spec", spec, "--op",
                               "fused_rms_norm", "--dtype", "fp32", code=1)
        self.assertIn("fail", {c["status"] for c in report["cases"]})
        _, text = self.judge("--backend", "libtorch", *OP, "--dtype", "fp32", code=3)
        self.assertIn("unsupported", text)


class Product(Declared):
    """Of rows that lie one sample after the other; its terms cancel."""

    CALL = "(p) = aten::linear.default(x, w, b); (y) = aten::relu.default(p)"
    SIZES = ("(a) = aten::abs.default(x); (c) = aten::abs.default(w); (d) = aten::abs.default(b); "
             "(y) = aten::linear.default(a, c, d)")
    DIMS = {"k": {"from": 16, "to": 1024}, "n": {"from": 1, "to": 64}, "t": {"from": 1, "to": 8}}

    def arguments(self, bound):
        spec = {"op": "linear_relu", "formula": "y = max(0, x w + b)", "dims": self.DIMS,
                "inputs": [{"name": "x", "axes": ["t*B", "k"]}, {"name": "w", "axes": ["n", "k"]},
                           {"name": "b", "axes": ["n"]}],
                "output": {"name": "y", "axes": ["t*B", "n"]}, "reduced": ["k"],
                "contraction": True, "call": self.CALL, "reference": self.CALL, "bound": bound}
        path = self.folder / "product.json"
        path.write_text(json.dumps(spec))
        return "--op-spec", path, "--op", "linear_relu", "--dtype", "fp32", "--no-shrink"

    def test_is_certified_where_what_it_calls_is_invariant(self):
        declared = self.arguments({"roundings": "k+2", "magnitude": self.SIZES})
        report, _ = self.judge("--backend", "libtorch-invariant", *declared, code=0)
        self.assertEqual(report["ops"][0]["level"], "BI-3")
        report, text = self.judge("--backend", "libtorch", *declared, code=1)
        self.assertIn("alone failed", text)
        self.assertEqual({r for c in report["cases"] for r in c["reasons"] if c["status"] == "fail"},
                         {"bits"})

    def test_needs_a_bound_over_the_sizes_of_its_terms(self):
        ran = program.run("--backend", "libtorch", *self.arguments({"roundings": "k+2"}))
        self.assertEqual(ran.returncode, 2, ran.stdout)
        self.assertIn("claim more roundings or a larger bound.magnitude", ran.stderr)


class Verbs(Declared):
    def test_know_the_op(self):
        for verb in [["list", "ops"], ["explain", "fused_rms_norm"]]:
            ran = program.run(*verb, "--op-spec", SPEC)
            self.assertRegex(ran.stdout, r"fused_rms_norm:? +y = s / sqrt")
        ran = program.run("support", *plugin("fused_rms_norm"), "--op-spec", SPEC)
        self.assertRegex(ran.stdout, r"(?m)^fused_rms_norm +fp32 +own: plugin::fused_rms_norm$")

    def test_take_sizes_of_its_dims(self):
        report, _ = self.judge(*plugin("fused_rms_norm"), *OP, "--dtype", "fp32", "--dims",
                               "h=300", "--batch", "1,7", "--relation", "alone", code=3)
        self.assertEqual({c["status"] for c in report["cases"]}, {"pass"})
        self.assertTrue(all(":h300:" in c["case"] for c in report["cases"]))


class Mistake(Declared):
    RUN = (*plugin("fused_rms_norm"), "--op", "fused_rms_norm")

    def refused(self, *parts, **changes):
        ran = program.run(*self.RUN, "--op-spec", self.write(**changes))
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Abi-conform: --op-spec: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, ran.stderr)

    def test_in_the_file_is_said_with_its_place(self):
        self.assert_refused([*self.RUN, "--op-spec", "/no/file.json"], "there is no such file")
        self.assert_refused([*self.RUN, "--op-spec", SPEC, "--op-spec", SPEC], "already")
        self.refused("unknown key 'refrence'", "'reference'", refrence="x")
        self.refused("'reference' is missing", reference=None)
        self.refused("unknown law 'gauss'", laws=["gauss"])

    def test_in_the_reference_is_said_before_anything_is_judged(self):
        self.refused("reference", "frobnicate", reference="(y) = aten::frobnicate(x, residual)")
        self.refused("reference", "shape [1]", reference="(y) = aten::mean.dim(x, [-1], False)")

    def test_in_the_bound_is_seen_by_honest_evaluations(self):
        self.refused("bound", "claim more roundings", bound={"roundings": "1"})

    def test_in_what_is_reduced_is_seen_by_honest_evaluations(self):
        self.refused("bound", "may be summed in any order",
                     reference="(y) = aten::cumsum.default(x, -1)")


if __name__ == "__main__":
    unittest.main()
