#!/usr/bin/env python3
"""Whole models: a decoder at temperature 0, and a policy timed as public posts do. Needs LibTorch."""
import json
import pathlib
import re
import shlex
import shutil
import tempfile
import unittest

import program

TINY = ("--suite", "decoder", "--dtype", "fp32")
POST = ["batch_seconds_mean", "batch_seconds_std", "batch_size", "bi_conform", "distractor_samples",
        "metrics_mean", "metrics_worst", "num_trials", "reference_samples", "reference_seconds",
        "throughput_speedup_vs_reference"]
METRICS = ["max_abs_diff", "mean_abs_diff", "output_abs_max", "relative_l2_max", "relative_l2_mean",
           "rmse"]
OURS = ["backend", "batch_ns", "device", "dtype", "elements", "preset", "reference_ns", "suite",
        "threads", "trials_of_equal_bits", "version"]
BESIDE_STOCK = ["ratio_to_stock_ppm", "stock_batch_ns", "stock_reference_ns"]


class Models(program.ProgramTest):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)


class Decoder(Models):
    def judge(self, backend, *what):
        ran = program.run("--backend", backend, *what, "--out", self.folder)
        self.assertEqual(ran.stderr, "")
        return ran, program.parse((self.folder / "report.json").read_text())

    def test_of_invariant_kernels_gives_one_answer(self):
        ran, report = self.judge("libtorch-invariant", *TINY)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertIn("200 requests: 1 completion, 3508 of 3508 log-probabilities equal", ran.stdout)
        self.assertEqual([r["question"]["preset"] for r in report["decoder"]], ["tiny", "tiny-ragged"])
        for row in report["decoder"]:
            self.assertEqual((row["status"], row["answer"]["distinct"]), ("pass", 1))
            self.assertEqual((row["answer"]["different"], row["answer"]["tokens"]), (0, 3508))
            self.assertGreater(row["answer"]["traffic"]["mixed_passes"], 100)

    def test_of_other_kernels_is_reported_and_repeated_by_its_line(self):
        ran, report = self.judge("libtorch", *TINY)
        red = [r for r in report["decoder"] if r["status"] == "fail"]
        self.assertEqual(ran.returncode, 1 if red else 0, ran.stdout)
        for row in report["decoder"]:
            differs = row["answer"]["different"] > 0 or "first_logit" in row["answer"]
            self.assertEqual(row["status"] == "fail", differs)
        for row, line in zip(red, re.findall(r"^repro: (.+)$", ran.stdout, re.MULTILINE)):
            _, again = self.judge("libtorch", *shlex.split(line)[3:])
            self.assertEqual(again["decoder"], [row])

    def test_is_not_asked_of_a_backend_without_models(self):
        plugin = program.PROGRAM.parents[1] / "lib/plugins/mm.so"
        ran, report = self.judge(f"plugin:{plugin}", *TINY)
        self.assertEqual(ran.returncode, 3, ran.stdout)
        self.assertEqual({r["status"] for r in report["decoder"]}, {"unsupported"})

    def test_of_an_unknown_preset_names_the_nearest(self):
        self.assert_refused(["--backend", "libtorch", "--suite", "decoder", "--preset", "tiny-raged"],
                            "--preset", "'tiny-raged'", "did you mean 'tiny-ragged'")


class Perf(Models):
    def time(self, backend, *more):
        file = self.folder / "perf.json"
        ran = program.run("perf", "--suite", "pi0", "--backend", backend, "--trials", "2",
                          "--json", file, *more)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        return ran, json.loads(file.read_text())

    def test_gives_the_posts_fields(self):
        ran, posts = self.time("libtorch-invariant", "--batch", "1,5")
        self.assertEqual([p["batch_size"] for p in posts], [1, 5])
        for post in posts:
            self.assertEqual(sorted(post), POST)
            self.assertEqual(sorted(post["metrics_mean"]), METRICS)
            self.assertEqual(sorted(post["metrics_worst"]), METRICS)
            self.assertEqual(sorted(post["bi_conform"]), sorted(OURS + BESIDE_STOCK))
            self.assertEqual(post["distractor_samples"], post["batch_size"] - 1)
            self.assertEqual(len(post["bi_conform"]["batch_ns"]), post["num_trials"])
            self.assertEqual(post["bi_conform"]["trials_of_equal_bits"], 2)
            self.assertEqual(post["metrics_worst"]["max_abs_diff"], 0)
            self.assertGreater(post["metrics_worst"]["output_abs_max"], 0)
        self.assertIn("x stock's; 2 of 2 trials have its bits", ran.stdout)

    def test_of_stock_is_timed_beside_nothing(self):
        _, posts = self.time("libtorch", "--batch", "3", "--preset", "tiny-openpi", "--dtype", "bf16")
        self.assertEqual(sorted(posts[0]["bi_conform"]), OURS)

    def test_says_what_it_can_time(self):
        self.assert_refused(["perf", "--backend", "libtorch"], "--suite is missing", "pi0")
        self.assert_refused(["perf", "--suite", "ops", "--backend", "libtorch"], "'ops'", "pi0")
        self.assert_refused(["perf", "--suite", "pi0", "--op", "mm", "--backend", "libtorch"],
                            "--suite excludes --op")
        self.assert_refused(["perf", "--op", "var", "--backend", "libtorch"], "nothing is selected")
        self.assert_refused(["perf", "--suite", "pi0", "--trials", "0", "--backend", "libtorch"],
                            "--trials: '0'")
        plugin = program.PROGRAM.parents[1] / "lib/plugins/mm.so"
        self.assert_refused(["perf", "--suite", "pi0", "--backend", f"plugin:{plugin}"],
                            "runs no whole models")


if __name__ == "__main__":
    unittest.main()
