#!/usr/bin/env python3
"""`--suite pi0`: a whole policy as a row of the table. Needs LibTorch."""
import pathlib
import re
import shlex
import shutil
import tempfile
import unittest

import program


def run(test, *arguments):
    """A run of the ragged tiny preset in fp32, and its report."""
    folder = pathlib.Path(tempfile.mkdtemp())
    test.addClassCleanup(shutil.rmtree, folder)
    ended = program.run("--suite", "pi0", "--preset", "tiny-ragged", "--dtype", "fp32", "--no-perf",
                        *arguments, cwd=folder, timeout=600)
    return ended, program.parse((folder / "bi-conform-report/report.json").read_text())


class BundledKernels(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.ended, cls.report = run(cls, "--backend", "libtorch-invariant")

    def test_give_a_robot_the_same_action_in_any_batch(self):
        self.assertEqual(self.ended.returncode, 0, self.ended.stdout)
        self.assertRegex(self.report["verdict"]["text"], r"^BI-3 on 1 of \d+ ops .*suite pi0 only")
        self.assertLessEqual({c["status"] for c in self.report["cases"]}, {"pass", "skipped"})

    def test_are_judged_by_every_relation_that_a_policy_has(self):
        seen = {c["case"].partition("/")[0].partition(".")[2] for c in self.report["cases"]}
        self.assertEqual(seen, {"repeat", "fresh", "alone", "twins", "permute", "neighbours",
                                "layout", "pad", "threads", "chunk"})

    def test_are_told_apart_from_other_orders_in_every_problem(self):
        controls = self.report["controls"]
        self.assertEqual((controls["drawn"], controls["vacuous"]), (5, 0))

    def test_hold_the_bound_of_accuracy(self):
        [row] = self.report["ops"]
        self.assertGreater(row["worst_error_ppm"], 0)
        self.assertLess(row["worst_error_ppm"], 1_000_000)

    def test_are_repeated_by_a_case_string(self):
        case = next(c["case"] for c in self.report["cases"] if ".pad/" in c["case"])
        repeated = program.run("repro", case, "--backend", "libtorch-invariant")
        self.assertEqual(repeated.returncode, 0, repeated.stdout + repeated.stderr)
        self.assertIn("status: pass", repeated.stdout)


class Stock(program.ProgramTest):
    """On every CPU a product of more rows takes another path than that of one."""

    @classmethod
    def setUpClass(cls):
        cls.ended, cls.report = run(cls, "--backend", "libtorch", "--relation", "alone")

    def test_gives_a_robot_another_action_in_a_batch(self):
        self.assertEqual(self.ended.returncode, 1, self.ended.stdout)
        self.assertIn("first pi0 fp32: alone failed", self.report["verdict"]["text"])

    def test_fails_again_by_the_repro_line(self):
        line = re.search(r"^repro: (.*)$", self.ended.stdout, re.MULTILINE)[1]
        repeated = program.run(*shlex.split(line)[1:])
        self.assertEqual(repeated.returncode, 1, repeated.stdout + repeated.stderr)


class Presets(program.ProgramTest):
    def test_of_no_model_are_refused_in_one_line(self):
        for arguments, words in [
                (["--preset", "tiny-raged"], ["--preset", "did you mean 'tiny-ragged'?"]),
                (["--suite", "public", "--preset", "tiny"], ["'tiny'", "add --suite pi0"]),
                (["--suite", "pi0", "--dims", "k=3"], ["--dims", "suite pi0"])]:
            ended = program.run("--backend", "libtorch", *arguments)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
            for word in words:
                self.assertIn(word, ended.stderr)


if __name__ == "__main__":
    unittest.main()
