#!/usr/bin/env python3
"""A gate on the bundled kernels: a planted fault is red, and the page says on which op and how to see
it again."""
import pathlib
import subprocess
import tempfile
import unittest

import program

ONE_OP = ("--op", "mm", "--dtype", "fp32", "--no-perf", "--jobs", "2")


class PlantedFault(program.ProgramTest):
    def test_is_red_and_its_page_names_the_op_and_the_repro_line(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            ran = program.run("--backend", "libtorch-invariant", *ONE_OP, "--out", folder / "a")
            self.assertEqual(ran.returncode, 0, ran.stdout)
            gate = ("gate", "--no-perf", "--jobs", "2", "--baseline", folder / "a",
                    "--out", folder / "b", "--markdown", folder / "page.md")
            ran = program.run(*gate, "--backend", "libtorch-invariant")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
            ran = program.run(*gate, "--backend", "fault:split-by-batch")
            self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
            page = (folder / "page.md").read_text()
        self.assertLessEqual(len(page.encode()), 65_000)
        self.assertRegex(page, r"(?m)^- mm fp32 alone: \d+ cases?, pass before, fail now$")
        self.assert_repeats(page)

    def assert_repeats(self, page):
        line = next(x for x in page.splitlines() if x.startswith("repro: bi-conform repro 'mm."))
        words = line.removeprefix("repro: bi-conform ")
        ran = subprocess.run(f"'{program.PROGRAM}' {words}", shell=True, text=True,
                             stdout=subprocess.PIPE, env=program.environment())
        self.assertEqual(ran.returncode, 1, ran.stdout)


class NarrowedGate(program.ProgramTest):
    def test_is_not_held_to_what_its_own_flags_leave_out(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            suites = ("--backend", "libtorch-invariant", "--suite", "decoder", "--suite", "pi0",
                      "--preset", "tiny", "--relation", "accuracy")
            ran = program.run(*suites, "--out", folder / "a", timeout=300)
            self.assertEqual(ran.returncode, 0, ran.stdout)
            self.assertIn("decoder tiny bf16", ran.stdout)
            self.assertIn("pi0 tiny bf16", ran.stdout)
            ran = program.run("gate", "--backend", "libtorch-invariant", "--dtype", "fp32",
                              "--baseline", folder / "a", "--out", folder / "b", timeout=300)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
            self.assertNotIn("bf16", ran.stdout)


if __name__ == "__main__":
    unittest.main()
