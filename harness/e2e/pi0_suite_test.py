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

    def test_hold_it_in_every_tensor_on_the_way(self):
        [row] = self.report["models"]
        self.assertEqual((row["preset"], row["dtype"], row["status"]), ("tiny-ragged", "fp32", "pass"))
        accuracy = row["accuracy"]
        self.assertGreater(accuracy["tensors"], 800)
        self.assertEqual(accuracy["beyond"], 0)
        self.assertIn(accuracy["worst"]["share_ppm"], range(1, 1_000_001))
        self.assertIn(f"pi0 tiny-ragged fp32      pass        {row['message']}", self.ended.stdout)

    def test_run_wherever_the_model_sums(self):
        [row] = self.report["models"]
        foreign = {op["overload"] for op in row["ops"] if op["reduces"] and not op["own"]}
        self.assertEqual(foreign, set())
        own = [op for op in row["ops"] if op["own"] and op["reduces"]]
        self.assertIn(["fp32:4", "fp32:4"], [op["inputs"] for op in own
                                             if op["overload"] == "aten::matmul"])
        self.assertIn("own, reductions on stock: none", self.ended.stdout)

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


class TensorsOnTheWay(program.ProgramTest):
    def test_of_stock_are_exact_and_reached_on_stock(self):
        ended, report = run(self, "--backend", "libtorch", "--relation", "accuracy")
        self.assertEqual(ended.returncode, 0, ended.stdout)
        [row] = report["models"]
        self.assertEqual(row["status"], "pass")
        self.assertFalse([op for op in row["ops"] if op["own"]])
        foreign = {op["overload"] for op in row["ops"] if op["reduces"]}
        self.assertLessEqual({"aten::bmm", "aten::_softmax", "aten::native_layer_norm"}, foreign)

    def test_show_an_error_of_which_the_action_knows_nothing(self):
        """The fault is in the last token of the text, which no request is long enough to have."""
        file = pathlib.Path(tempfile.mkdtemp()) / "trace.json"
        for position in range(3):
            program.run("trace", "--backend", "fault:pi0-rms-norm", "--preset", "tiny-ragged", "--batch",
                        "3", "--position", position, "--json", file)
            tensors = program.parse(file.read_text())["tensors"]
            self.assertFalse(all(t["equal"] for t in tensors))
            actions = [t["equal"] for t in tensors if t["name"].endswith(("updated_action", "final_action"))]
            self.assertEqual(actions, [True] * 11)
        ended, report = run(self, "--backend", "fault:pi0-rms-norm", "--relation", "accuracy")
        self.assertEqual((ended.returncode, report["cases"]), (1, []), ended.stdout)
        [row] = report["models"]
        self.assertEqual((row["status"], row["reasons"]), ("fail", ["accuracy"]))
        worst = row["accuracy"]["worst"]
        self.assertEqual(worst["section"], "prefill")
        self.assertRegex(worst["name"], r"\.layer_1\..*vlm$")
        self.assertGreater(worst["share_ppm"], 10_000_000)  # 65 to 110 bounds, by the CPU
        self.assertIn("beyond the bound, most of all prefill: " + worst["name"], ended.stdout)
        self.assertIn("does not conform", report["verdict"]["text"])
        line = re.search(r"^repro: (.*)$", ended.stdout, re.MULTILINE)[1]
        repeated = program.run(*shlex.split(line)[1:], cwd=tempfile.mkdtemp())
        self.assertEqual(repeated.returncode, 1, repeated.stdout + repeated.stderr)

    def test_are_not_looked_at_when_nobody_asks_for_accuracy(self):
        _, report = run(self, "--backend", "libtorch-invariant", "--relation", "repeat")
        self.assertNotIn("models", report)


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
