#!/usr/bin/env python3
"""Kernels in C under judgement: the examples conform, and each planted misbehaviour ends as it must
while everything else is judged."""
import pathlib
import re
import tempfile
import time
import unittest

import program

PLUGINS = program.PROGRAM.parent.parent / "lib" / "plugins"
STRUCK = ":B33"  # the batch at which the misbehaving plug-ins misbehave
TIMEOUT = 1.0
SMALL = ("--no-perf", "--no-shrink", "--dtype", "fp32", "--timeout", f"{TIMEOUT}s")


def backend(name):
    return "--backend", f"plugin:{PLUGINS / name}.so"


def judge(test, *arguments, code):
    """The report of a run that ends with `code`."""
    with tempfile.TemporaryDirectory() as folder:
        ran = program.run(*arguments, *SMALL, "--out", folder)
        test.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
        report = program.parse((pathlib.Path(folder) / "report.json").read_text())
    totals = dict(report["totals"])
    test.assertEqual(totals.pop("planned"), sum(totals.values()))
    test.assertEqual(len(report["cases"]), sum(totals.values()))
    return report


class Example(program.ProgramTest):
    def test_conforms_on_all_that_it_claims(self):
        report = judge(self, *backend("mm"), "--op", "mm", code=0)
        row = report["ops"][0]
        self.assertEqual((row["op"], row["dtype"], row["level"]), ("mm", "fp32", "BI-3"))
        self.assertEqual(report["verdict"]["ops_covered"], 1)
        self.assertEqual({c["status"] for c in report["cases"]}, {"pass", "skipped"})
        self.assertEqual(report["subject"]["fingerprint"]["plugin"], "example-mm 1")
        self.assertIn("mm.so", [library["name"] for library in report["subject"]["libraries"]])

    def test_claims_no_more_than_its_manifest(self):
        ran = program.run("support", *backend("mm"))
        self.assertRegex(ran.stdout, r"(?m)^mm +fp32 +own: plugin::mm$")
        report = judge(self, *backend("mm"), "--op", "bmm", "--relation", "alone", code=3)
        self.assertEqual({c["status"] for c in report["cases"]}, {"unsupported"})

    def test_runs_without_a_process_of_its_own(self):
        judge(self, *backend("mm"), "--op", "mm", "--relation", "alone", "--isolation", "none",
              "--dims", "k=64,n=8", "--batch", "1,5", code=3)

    def forms(self, name):
        report = judge(self, *backend(name), "--op", "mul", code=0)
        self.assertEqual(report["ops"][0]["level"], "BI-3")
        return {form: {c["status"] for c in report["cases"] if f"form={form}" in c["case"]}
                for form in ["out", "inplace"]}

    def test_is_asked_for_the_forms_that_it_claims(self):
        self.assertEqual(self.forms("mul"), {"out": {"pass"}, "inplace": {"pass"}})

    def test_is_not_asked_for_the_forms_that_it_does_not_claim(self):
        self.assertEqual(self.forms("mul_without_inplace"),
                         {"out": {"pass"}, "inplace": {"unsupported"}})


class Loading(program.ProgramTest):
    def test_refuses_what_is_no_plug_in(self):
        name = f"plugin:{PLUGINS}/none.so"
        self.assert_refused(["--backend", name, "--op", "mm"], "there is no such file")
        name = f"plugin:{program.PROJECT}/README.md"
        self.assert_refused(["--backend", name, "--op", "mm"], "cannot load it", "README.md")
        other = next(program.PROGRAM.parent.parent.glob("lib/libbic_plugin.so"))
        self.assert_refused(["--backend", f"plugin:{other}"], "exports no bi_conform_plugin")

    def test_refuses_tables_that_are_not_as_the_header_says(self):
        for name, words in {
                "serves_no_version": "does not serve version 1",
                "is_of_a_newer_version": "a bic_plugin of version 7 of bi_conform_plugin.h; "
                                         "this program speaks 1",
                "has_a_short_table": "a bic_plugin of",
                "has_no_claims": "a null table of claims",
                "has_a_null_claim": "a null claim",
                "has_a_null_run": "a null run",
                "dies_on_loading": "killed by signal 6"}.items():
            with self.subTest(name):
                self.assert_refused([*backend(name), "--op", "mm"], "did not start", words)


class Misbehaviour(program.ProgramTest):
    """Of the cases that strike it: status, a reason or none, and words of the message."""

    ENDS = {
        "segfaults": ("crash", "signal", "signal 11"),
        "aborts": ("crash", "signal", "signal 6"),
        "leaves_a_child": ("crash", "signal", "signal 6"),
        "raises_sigkill": ("crash", "signal", "signal 9"),
        "exits": ("crash", "exception", "exited with code"),
        "closes_its_socket": ("crash", "exception", "exited with code"),
        "talks_on_its_socket": ("crash", "exception", "malformed"),
        "loops": ("timeout", None, "no answer within 1000 ms"),
        "floods_stderr": ("timeout", None, "flood flood"),
        "says_another_shape": ("fail", "shape", "[32,8], expected [33,8]"),
        "says_another_dtype": ("fail", "dtype", "the output is fp64"),
        "moves_the_output": ("crash", "exception", "moved the output"),
        "invents_axes": ("crash", "exception", "gave the output 3 axes; it has 2"),
        "writes_past_the_end": ("fail", "out_of_bounds", ""),
        "writes_before_the_begin": ("fail", "out_of_bounds", ""),
        "writes_nothing": ("fail", "stale_output", ""),
        "leaves_one_out": ("fail", "stale_output", ""),
        "changes_an_input": ("fail", "input_changed", ""),
        "declines": ("refused", None, "not today"),
        "fails": ("crash", "exception", "not today"),
    }
    SIZES = ("--op", "mm", "--relation", "alone", "--dims", "k=64,n=8", "--batch", "1,5,33")

    def test_costs_the_cases_that_it_strikes_and_no_other(self):
        for name, (status, reason, words) in self.ENDS.items():
            with self.subTest(name):
                struck = None
                for case in judge(self, *backend(name), *self.SIZES, code=1)["cases"]:
                    if STRUCK not in case["case"]:
                        self.assertEqual(case["status"], "pass", case)
                        continue
                    struck = case
                    self.assertEqual(case["status"], status, case)
                    self.assertIn(reason or case["status"], [*case["reasons"], status], case)
                    message = case["detail"].get("message", "")
                    self.assertIn(words, message)
                    self.assertNotIn("\n", message)
                self.assertIsNotNone(struck)
                self.assert_ends_in_time(name, struck)

    def assert_ends_in_time(self, name, struck):
        begin = time.monotonic()
        ran = program.run("repro", struck["case"], *backend(name), "--timeout", f"{TIMEOUT}s")
        self.assertLess(time.monotonic() - begin, TIMEOUT + 2)
        self.assertIn(f"status: {struck['status']}", ran.stdout)
        self.assertEqual(ran.returncode, 1)

    def test_of_a_thread_that_crashes_later_is_a_crash_too(self):
        report = judge(self, *backend("crashes_later"), "--op", "mm", "--relation", "alone",
                       code=1)
        crashes = [c for c in report["cases"] if c["status"] == "crash"]
        self.assertGreater(len(crashes), 0)
        self.assertIn("signal 6", crashes[0]["detail"]["message"])
        self.assertLessEqual({c["status"] for c in report["cases"]}, {"pass", "crash", "blocked"})


class External(program.ProgramTest):
    """Libraries that may pass or fail; what is asked here is that they were judged."""

    def judged(self, name, *ops):
        listed = program.run("list", "backends").stdout
        self.assertRegex(listed, rf"(?m)^{name} ")
        if re.search(rf"(?m)^{name} .*\(not in this build: install \S+ and", listed):
            self.assert_refused(["--backend", name, "--op", "mm"], "not in this build: install")
            self.skipTest(f"{name} is not in this build")
        selected = [flag for op in ops for flag in ("--op", op)]
        with tempfile.TemporaryDirectory() as folder:
            ran = program.run("--backend", name, *selected, *SMALL, "--out", folder)
            self.assertIn(ran.returncode, (0, 1), ran.stdout + ran.stderr)
            report = program.parse((pathlib.Path(folder) / "report.json").read_text())
        self.assertEqual({row["op"] for row in report["ops"]}, set(ops))
        # Vacuous for its witness: a library may take fewer threads than it is told.
        self.assertLessEqual({c["status"] for c in report["cases"]},
                             {"pass", "fail", "unstable", "skipped", "vacuous"})
        reasons = {reason for c in report["cases"] for reason in c["reasons"]}
        self.assertLessEqual(reasons, {"bits", "no_parallel_region", "witness"})

    def test_openblas_is_judged(self):
        self.judged("openblas", "mm", "bmm", "addmm", "mv", "dot")

    def test_onednn_is_judged(self):
        self.judged("onednn", "mm", "bmm")


if __name__ == "__main__":
    unittest.main()
