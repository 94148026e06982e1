#!/usr/bin/env python3
"""`--suite public`: the sizes of public reports as named cases. Needs LibTorch."""
import pathlib
import re
import shlex
import shutil
import tempfile
import unittest

import program


def reports():
    """The ids in the table, and the rows of each."""
    lines = (program.PROJECT / "suites/public/reports.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines if not line.startswith("#")]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def id_of(case):
    return re.search(r":id=([a-z][a-z0-9]*)\Z", case["case"])[1]


class PublicRun:
    """One run of the suite, and its report."""

    def __init__(self, test, *arguments):
        folder = pathlib.Path(tempfile.mkdtemp())
        test.addClassCleanup(shutil.rmtree, folder)
        self.ended = program.run("--suite", "public", "--no-perf", *arguments, cwd=folder,
                                 timeout=600)
        self.report = program.parse((folder / "bi-conform-report/report.json").read_text())
        self.cases = self.report["cases"]


class BundledKernels(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.run_ = PublicRun(cls, "--backend", "libtorch-invariant")

    def test_hold_in_every_report(self):
        self.assertEqual(self.run_.ended.returncode, 0, self.run_.ended.stdout)
        self.assertEqual({id_of(c) for c in self.run_.cases}, {r["id"] for r in reports()})
        self.assertLessEqual({c["status"] for c in self.run_.cases}, {"pass", "skipped"})

    def test_have_a_verdict_on_the_public_suite_alone(self):
        verdict = self.run_.report["verdict"]
        count = len({r["id"] for r in reports()})
        self.assertIn(f"all {count} public reports hold", verdict["text"])
        self.assertIn("suite public only", verdict["text"])
        self.assertIs(verdict["certifiable"], False)
        self.assertEqual(self.run_.report["run"]["suite"], "public")

    def test_are_judged_on_the_sizes_of_the_reports(self):
        rows = {}
        for row in reports():
            dims = set(row["dims"].replace("=", "").split())
            rows.setdefault(row["id"], []).append((row["op"], dims))
        for case in self.run_.cases:
            head, dims = case["case"].split(":")[:2]
            op = head.partition(".")[0].partition("-")[0]
            fitting = [row for row in rows[id_of(case)]
                       if row[0] == op and row[1] <= set(dims.split(","))]
            self.assertTrue(fitting, case["case"])


class Stock(program.ProgramTest):
    """On every CPU an 8-row product takes another path than a single row."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = PublicRun(cls, "--backend", "libtorch", "--op", "mm", "--op", "linear",
                             "--dtype", "fp32", "--relation", "alone")

    def test_fails_and_is_told_in_which_reports(self):
        self.assertEqual(self.run_.ended.returncode, 1, self.run_.ended.stdout)
        failing = sorted({id_of(c) for c in self.run_.cases if c["status"] == "fail"})
        self.assertTrue(failing)
        text = self.run_.report["verdict"]["text"]
        self.assertIn(f"public reports fail: {' '.join(failing)}", text)
        self.assertIn(text, self.run_.ended.stdout)

    def test_fails_again_by_the_repro_line(self):
        line = re.search(r"^repro: (.*)$", self.run_.ended.stdout, re.MULTILINE)[1]
        words = shlex.split(line)
        self.assertRegex(words[2], r":id=[a-z][a-z0-9]*\Z")
        repeated = program.run(*words[1:])
        self.assertEqual(repeated.returncode, 1, repeated.stdout + repeated.stderr)
        self.assertIn(words[2], repeated.stdout)


class Names(program.ProgramTest):
    def test_of_reports_are_listed_and_explained(self):
        listed = program.run("list", "public").stdout
        for row in reports():
            self.assertRegex(listed, rf"(?m)^{row['id']} +\S")
        self.assertIn("pytorch#136338", program.run("explain", "c01").stdout)


if __name__ == "__main__":
    unittest.main()
