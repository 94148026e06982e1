#!/usr/bin/env python3
"""LibTorch backends on a GPU. Without one it is skipped and says why.

BIC_TORCH names the torch package to run with: the one that this machine's Python imports, say.
"""
import json
import pathlib
import re
import sys
import tempfile
import unittest

import program

LIB = program.PROGRAM.parent.parent / "lib"
SKIPPED = 77
SMALL = ("--no-perf", "--no-shrink")
MM = ("--op", "mm", "--dtype", "fp32", "--dims", "k=64,n=8")


class Gpu(program.ProgramTest):
    def judge(self, *arguments, code):
        with tempfile.TemporaryDirectory() as folder:
            ran = program.run(*arguments, *SMALL, "--out", folder, timeout=300)
            self.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
            return program.parse((pathlib.Path(folder) / "report.json").read_text())

    def test_is_named_with_its_libraries_in_the_report(self):
        subject = self.judge("--backend", "libtorch", "--device", "cuda:0", *MM, "--relation",
                             "repeat", code=3)["subject"]
        self.assertRegex(subject["device"], r"\Acuda:0 \S")
        for fact in ("cuda_runtime", "cuda_driver", "cublas", "cudnn", "compute_capability"):
            self.assertRegex(subject["fingerprint"][fact], r"\A[0-9.]+\Z")
        names = " ".join(library["name"] for library in subject["libraries"])
        for library in ("libtorch_cuda.so", "libcublas", "libbic_libtorch.so"):
            self.assertIn(library, names)

    def test_lays_out_every_input_as_the_trial_says(self):
        report = self.judge("--backend", "libtorch", "--device", "cuda", "--op", "mul", "--dtype",
                            "bf16", "--relation", "layout", "--relation", "forms", code=3)
        self.assertEqual({c["status"] for c in report["cases"]}, {"pass"})

    def test_has_kernels_of_a_library_judged(self):
        report = self.judge("--backend", f"libtorch:{LIB}/libbic_example_cuda_mm.so", "--device",
                            "cuda", *MM, code=0)
        self.assertEqual(report["ops"][0]["level"], "BI-3")

    @unittest.skipUnless((LIB / "libbic_cuda.so").exists(), "this build has no kernels for CUDA")
    def test_has_the_bundled_kernels_conform(self):
        report = self.judge("--backend", "libtorch-invariant", "--device", "cuda", "--op",
                            "softmax", code=0)
        self.assertEqual(report["ops"][0]["level"], "BI-3")
        names = " ".join(library["name"] for library in report["subject"]["libraries"])
        self.assertIn("libbic_cuda.so", names)

    def test_of_a_library_without_cuda_kernels_is_refused(self):
        ran = program.run("--backend", f"libtorch:{LIB}/libbic_example_mm.so", "--device", "cuda")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("registers no op of the suite on CUDA", ran.stderr)

    def test_that_fails_costs_the_case_and_no_other(self):
        report = self.judge("--backend", f"libtorch:{LIB}/libbic_planted_cuda_mm.so", "--device",
                            "cuda", *MM, "--relation", "alone", "--batch", "1,5,33,48,65",
                            "--timeout", "5s", code=1)
        ends = {"B33": "crash", "B48": "crash", "B65": "timeout"}
        seen = set()
        for case in report["cases"]:
            batch = re.search(r":(B[0-9]+)[@#]", case["case"]).group(1)
            seen.add(batch)
            self.assertEqual(case["status"], ends.get(batch, "pass"), json.dumps(case))
        self.assertLessEqual(set(ends), seen)

    def test_on_the_wrong_stream_or_outside_a_graph_is_caught(self):
        report = self.judge("--backend", f"libtorch:{LIB}/libbic_planted_cuda_mm.so", "--device",
                            "cuda", *MM, "--relation", "stream", "--relation", "graph", "--batch",
                            "1,9,17", code=1)
        seen = set()
        for case in report["cases"]:
            relation = re.search(r"[.]([a-z]+)/", case["case"]).group(1)
            batch = re.search(r":(B[0-9]+)[@#]", case["case"]).group(1)
            seen.add((relation, batch))
            broken = (relation, batch) in {("stream", "B17"), ("graph", "B9")}
            self.assertEqual(case["status"], "fail" if broken else "pass", json.dumps(case))
        self.assertEqual(seen, {("stream", "B1"), ("stream", "B17"), ("graph", "B1"),
                                ("graph", "B9")})

    def test_that_is_stock_is_caught(self):
        report = self.judge("--backend", "libtorch", "--device", "cuda", "--op", "cumsum",
                            "--dtype", "fp32", code=1)
        self.assertIn("fail", {c["status"] for c in report["cases"]})

    def test_runs_whole_models(self):
        report = self.judge("--backend", "libtorch", "--device", "cuda", "--suite", "pi0",
                            "--dtype", "fp32", "--relation", "repeat", code=3)
        self.assertEqual({c["status"] for c in report["cases"]}, {"pass"})
        ran = program.run("trace", "--backend", "libtorch", "--device", "cuda", "--batch", "2")
        self.assertIn(ran.returncode, (0, 1), ran.stderr)


if __name__ == "__main__":
    started = program.run("support", "--backend", "libtorch", "--device", "cuda")
    if started.returncode:
        print("skipped:", started.stderr.strip())
        sys.exit(SKIPPED)
    unittest.main()
