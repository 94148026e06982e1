#!/usr/bin/env python3
"""`--suite sanitize`: few cases of every op that has a bundled kernel. Needs LibTorch."""
import pathlib
import tempfile
import unittest

import program

BACKEND = ("--backend", "libtorch-invariant")


class Sanitize(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.ended = program.run(*BACKEND, "--suite", "sanitize", "--no-perf", cwd=folder,
                                    timeout=300)
            report = pathlib.Path(folder, "bi-conform-report/report.json")
            cls.report = program.parse(report.read_text())

    def test_finds_nothing_red_and_proves_no_level(self):
        self.assertEqual(self.ended.returncode, 3, self.ended.stdout)
        self.assertLessEqual({c["status"] for c in self.report["cases"]},
                             {"pass", "vacuous", "skipped"})

    def test_has_every_op_with_a_bundled_kernel(self):
        support = program.run("support", *BACKEND).stdout
        own = {line.split()[0] for line in support.splitlines() if "  own: aten::" in line}
        self.assertGreater(len(own), 30)
        self.assertLessEqual(own, {row["op"] for row in self.report["ops"]})

    def test_is_small(self):
        self.assertLess(len(self.report["cases"]), 2000)


if __name__ == "__main__":
    unittest.main()
