#!/usr/bin/env python3
"""A Python module under judgement, without torch: NumPy functions conform or fail as planted, and
what a module does wrong ends in its own status or in one line. The interpreter must have NumPy."""
import pathlib
import re
import tempfile
import textwrap
import unittest

import program

EXAMPLES = program.PROJECT / "adapters/python/examples"
SMALL = ("--no-perf", "--no-shrink", "--jobs", "1", "--dtype", "fp32")
PYTHON = program.python_with_numpy()


class Module(program.ProgramTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text):
        path = self.folder / "kernels.py"
        path.write_text(textwrap.dedent(text))
        return path

    def judge(self, module, *arguments):
        out = self.folder / "out"
        ran = program.run("--backend", f"python:{module}", "--python", PYTHON, "--out", out,
                          *SMALL, *arguments)
        report = out / "report.json"
        return ran, program.parse(report.read_text()) if report.exists() else None

    def cases(self, module, *arguments):
        """The relation's cases that are neither passed nor skipped: statuses, reasons, messages."""
        ran, report = self.judge(module, "--op", "mm", "--relation", "repeat", *arguments)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        return {(c["status"], *c["reasons"]) for c in report["cases"]}, ran.stdout

    def mm(self, body, before=""):
        return self.write(f"import os, sys, time\nimport numpy as np\n{before}\n"
                          f"def mm(a, b):\n    {body}\n")


class Example(Module):
    def test_conforms_where_no_row_is_seen(self):
        ran, report = self.judge(EXAMPLES / "numpy_ops.py", "--op", "mm", "--op", "softmax")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        rows = {(r["op"], r["level"]) for r in report["ops"]}
        self.assertEqual(rows, {("mm", "BI-3"), ("softmax", "BI-3")})
        self.assertEqual(report["totals"]["vacuous"], 0)
        forms = {c["status"] for c in report["cases"] if c["case"].startswith("mm.forms")}
        self.assertEqual(forms, {"pass"})
        self.assertIn("numpy", report["subject"]["fingerprint"])

    def test_fails_by_batch_where_the_sum_is_split_by_it(self):
        ran, report = self.judge(EXAMPLES / "numpy_varying.py", "--op", "mm")
        self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        self.assertIn("alone failed", ran.stdout)
        lines = re.findall(r"^repro: .*", ran.stdout, re.MULTILINE)
        self.assertIn(f"--python {PYTHON}", lines[0])
        case = re.search(r"'(.*?)'", lines[0]).group(1)
        backend = ("--backend", f"python:{EXAMPLES}/numpy_varying.py", "--python", PYTHON)
        again = program.run("repro", case, *backend)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)

    def test_is_found_by_name_in_the_working_folder(self):
        ran = program.run("support", "--backend", "python:numpy_ops", "--python", PYTHON,
                          cwd=EXAMPLES)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("own: numpy_ops.mm", ran.stdout)


class Misbehaviour(Module):
    def assert_cases(self, module, status, *reasons, says, more=()):
        cases, text = self.cases(module, *more)
        self.assertEqual(cases, {(status, *reasons)} | ({("blocked",)} & cases), text)
        self.assertIn(says, text)

    def test_that_raises_is_an_exception(self):
        self.assert_cases(self.mm("raise ValueError('no such tile')"), "crash", "exception",
                          says="ValueError: no such tile")

    def test_that_exits_is_an_exception(self):
        self.assert_cases(self.mm("sys.exit(3)"), "crash", "exception", says="SystemExit: 3")

    def test_that_leaves_at_once_is_a_crash(self):
        self.assert_cases(self.mm("os._exit(7)"), "crash", "exception", says="exited with code 7")

    def test_that_aborts_is_a_crash_by_signal(self):
        self.assert_cases(self.mm("os.abort()"), "crash", "signal", says="killed by signal 6")

    def test_that_declines_is_refused(self):
        self.assert_cases(self.mm("raise NotImplementedError('odd k')"), "refused", says="odd k")

    def test_that_never_ends_is_a_timeout(self):
        self.assert_cases(self.mm("\n    while True: pass"), "timeout", says="no answer within",
                          more=("--timeout", "1s", "--dims", "k=64,n=5", "--batch", "1"))

    def test_that_writes_to_the_socket_is_a_crash(self):
        self.assert_cases(self.mm("os.write(3, b'x' * 64); time.sleep(60)"), "crash", "exception",
                          says="malformed")

    def test_in_the_output_has_its_own_reason(self):
        self.assert_cases(self.mm("return (a @ b)[:, :-1]"), "fail", "shape", says="expected")
        self.assert_cases(self.mm("return (a @ b).astype(np.float64)"), "fail", "dtype",
                          says="the output is fp64")
        self.assert_cases(self.mm("return [1, 2]"), "crash", "exception", says="returned list")

    def test_in_memory_has_its_own_reason(self):
        big = ("--dims", "k=64,n=300", "--batch", "1,16")
        self.assert_cases(self.mm("return np.empty((len(a), b.shape[1]), a.dtype)"), "fail",
                          "accuracy", "stale_output", says="stale_output", more=big)
        self.assert_cases(self.mm("y = a @ b; a += 1; return y"), "fail", "input_changed",
                          says="input_changed")
        beside = "y = a @ b; np.lib.stride_tricks.as_strided(a, (a.size + 1,), (4,))[-1] = 0; return y"
        self.assert_cases(self.mm(beside), "fail", "out_of_bounds", says="out_of_bounds",
                          more=big)


class Mistake(Module):
    def assert_refused_module(self, module, *parts):
        self.assert_refused(["--backend", f"python:{module}", "--python", PYTHON, *SMALL], *parts)

    def test_in_the_module_says_what_lacks(self):
        self.assert_refused_module("no/such.py", "'no/such.py': there is no such file")
        self.assert_refused_module("no_such_module", "lacks 'no_such_module'")
        self.assert_refused_module("", "python:MODULE[:CALL]")
        self.assert_refused_module(self.write("import no_such_part"), "lacks 'no_such_part'")
        self.assert_refused_module(self.write("def mm(a, b:"), "SyntaxError")
        self.assert_refused_module(self.write("import sys; sys.exit(0)"), "SystemExit")
        self.assert_refused_module(self.write("x = 1"), "no function named as an op")

    def test_in_the_call_says_what_is_wrong(self):
        module = self.write("""
            value = 1
            def nothing(): pass
            def fails(): raise ValueError("no device")
        """)
        self.assert_refused_module(f"{module}:mode", "has no 'mode'")
        self.assert_refused_module(f"{module}:value", "cannot be called")
        self.assert_refused_module(f"{module}:fails", "ValueError: no device")
        self.assert_refused_module(f"{module}:nothing", "changed no op")
        self.assert_refused_module(f"{module}:", "python:MODULE[:CALL]")

    def test_in_the_interpreter_is_answered_before_any_work(self):
        module = EXAMPLES / "numpy_ops.py"
        backend = ["--backend", f"python:{module}"]
        self.assert_refused([*backend, "--python", "/no/python"], "--python", "'/no/python'")
        self.assert_refused([*backend, "--python", "no-such-python"], "PATH")
        self.assert_refused([*backend, "--python", str(module)], "no program")
        self.assert_refused(["--backend", "libtorch", "--python", PYTHON], "--python", "python:")
        self.assert_refused([*backend, "--python", PYTHON, "--isolation", "none"], "--isolation")

    def test_of_an_interpreter_without_the_library_names_it(self):
        bare = self.folder / "python-without-site"
        bare.write_text(f'#!/bin/sh\nexec "{PYTHON}" -S -I "$@"\n')
        bare.chmod(0o755)
        module = self.write("def mm(a, b): return a @ b")
        self.assert_refused(["--backend", f"python:{module}", "--python", bare], "numpy",
                            "--python")


class Device(Module):
    def refuse(self, device, *parts):
        self.assert_refused(["--backend", f"python:{EXAMPLES}/numpy_ops.py", "--python", PYTHON,
                             "--op", "mm", "--device", device], *parts)

    def test_that_is_none_is_refused(self):
        for device in ("tpu", "cuda:", "cuda:x", "CUDA"):
            self.refuse(device, f"--device: '{device}' is none of cpu, cuda, cuda:INDEX")

    def test_of_numpy_is_the_cpu(self):
        self.refuse("cuda:0", "'numpy_ops' does not import torch", "no device 'cuda:0'")
        _, report = self.judge(EXAMPLES / "numpy_ops.py", "--op", "mm", "--relation", "repeat",
                               "--device", "cpu")
        self.assertEqual(report["subject"]["device"], "cpu")

    def test_of_other_backends_is_the_cpu(self):
        self.assert_refused(["--backend", f"plugin:{PYTHON}", "--device", "cuda"],
                            "runs on the CPU only", "'cuda'")


if __name__ == "__main__":
    unittest.main()
