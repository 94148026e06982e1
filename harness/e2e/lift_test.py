#!/usr/bin/env python3
"""Plug-ins in the place of ATen's kernels: what is made of their ops is judged with them."""
import pathlib
import re
import tempfile
import unittest

import program

PLUGINS = program.PROGRAM.parent.parent / "lib" / "plugins"
SMALL = ("--no-perf", "--no-shrink", "--dtype", "fp32")
SIZES = ("--relation", "alone", "--dims", "k=64,n=8", "--batch", "1,5,33")
STRUCK = ":B33"  # the batch at which the misbehaving plug-ins misbehave


def backend(name):
    return "--backend", f"plugin:{PLUGINS / name}.so", "--lift"


def judge(test, *arguments, code):
    """The report of a run that ends with `code`, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        ran = program.run(*arguments, *SMALL, "--out", folder)
        test.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
        return program.parse((pathlib.Path(folder) / "report.json").read_text()), ran.stdout


def statuses(report):
    return {c["status"] for c in report["cases"]}


class Coverage(program.ProgramTest):
    def test_is_stated_before_any_run(self):
        said = program.run("support", *backend("products")).stdout
        self.assertIn("ATen's overloads that are the plug-in's: aten::addmm aten::addmm.out "
                      "aten::addmm_ aten::bmm aten::bmm.out aten::mm aten::mm.out\n", said)
        self.assertRegex(said, r"(?m)^addmm +fp32 +own: plugin::addmm$")
        self.assertRegex(said, r"(?m)^linear +fp32 +own: plugin::addmm, plugin::bmm, plugin::mm$")
        self.assertNotRegex(said, r"(?m)^softmax ")

    def test_names_what_stock_still_serves(self):
        said = program.run("support", *backend("mm")).stdout
        self.assertRegex(said, r"(?m)^mm +fp32 +own: plugin::mm$")
        self.assertRegex(said, r"(?m)^linear +fp32 +stock \(plugin::mm serves \d+ of \d+ ways")

    def test_is_in_the_report(self):
        report, _ = judge(self, *backend("products"), "--op", "linear", *SIZES, code=3)
        subject = report["subject"]
        self.assertEqual(subject["fingerprint"]["plugin"], "example-products 1")
        self.assertIn("aten::mm", subject["fingerprint"]["lifted"].split())
        self.assertIn("products.so", [library["name"] for library in subject["libraries"]])

    def test_is_for_plug_ins(self):
        for name in ("libtorch", "python:x.py"):
            self.assert_refused(["--backend", name, "--lift"], f"--lift: '{name}' is no plug-in")


class Composite(program.ProgramTest):
    def test_of_an_invariant_plug_in_conforms(self):
        report, _ = judge(self, *backend("products"), "--op", "linear", "--op", "matmul",
                          "-k", r"^linear|^matmul(-r4r4|-r3r3|-r3r2)?\.", code=3)
        self.assertEqual({c["status"] for c in report["cases"]} - {"skipped"}, {"pass"})
        levels = {row["op"]: row["level"] for row in report["ops"]}
        self.assertEqual(levels["linear"], "BI-3")

    def test_of_a_plug_in_that_splits_by_the_batch_fails(self):
        for op in ("mm", "linear"):
            report, said = judge(self, *backend("products_split"), "--op", op, code=1)
            failed = [c for c in report["cases"] if c["status"] == "fail"]
            self.assertEqual({reason for c in failed for reason in c["reasons"]}, {"bits"})
            self.assertIn(f"first {op} fp32: alone failed", said)

    def test_repeats_its_failure_from_the_printed_line(self):
        _, said = judge(self, *backend("products_split"), "--op", "linear", *SIZES, code=1)
        words = re.search(r"(?m)^repro: .*? repro '(.*?)' (.*)$", said)
        self.assertIn("--lift", words.group(2))
        ran = program.run("repro", words.group(1), *words.group(2).split())
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn("status: fail", ran.stdout)

    def test_ends_as_the_plug_in_does(self):
        for name, status in {"segfaults": "crash", "declines": "refused", "fails": "crash",
                             "writes_past_the_end": "fail"}.items():
            with self.subTest(name):
                report, _ = judge(self, *backend(name), "--op", "linear", "-k", r"^linear\.",
                                  *SIZES, code=1)
                for case in report["cases"]:
                    struck = STRUCK in case["case"]
                    self.assertEqual(case["status"], status if struck else "pass", case)


class External(program.ProgramTest):
    def test_libraries_are_judged_in_pytorch(self):
        for name in ("openblas", "onednn"):
            listed = program.run("list", "backends").stdout
            if re.search(rf"(?m)^{name} .*\(not in this build", listed):
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                ran = program.run("--backend", name, "--lift", "--op", "linear", *SIZES, *SMALL,
                                  "--out", folder)
                self.assertIn(ran.returncode, (1, 3), ran.stdout + ran.stderr)
                report = program.parse((pathlib.Path(folder) / "report.json").read_text())
                self.assertLessEqual(statuses(report), {"pass", "fail", "skipped"})


if __name__ == "__main__":
    unittest.main()
