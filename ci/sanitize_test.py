#!/usr/bin/env python3
"""What ci/sanitize makes of the outputs of compute-sanitizer, which a stand-in prints."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CI = pathlib.Path(__file__).resolve().parent
SEES = "=========     at void bic::cuda::canary(float *)+0x70"
CLEAN = "7 cases: 7 pass\n========= ERROR SUMMARY: 0 errors"


class Sanitize(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.work)
        (self.work / "ci").mkdir()
        for name in ("sanitize", "sanitize_canary.cu"):
            shutil.copy(CI / name, self.work / "ci")
        self.program("build/release/bin/bi-conform", "exit 99")
        self.program("bin/nvcc", "exit 0")

    def program(self, name, script):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def run_on(self, output, *arguments, canary=SEES):
        self.program("bin/compute-sanitizer",
                     f"[[ $* == */canary ]] && echo '{canary}' || echo '{output}'")
        return subprocess.run([self.work / "ci/sanitize", *arguments], capture_output=True, text=True,
                              check=False,
                              env={"PATH": f"{self.work}/bin:{os.environ['PATH']}"})

    def test_is_clean_where_no_tool_names_a_kernel_of_ours(self):
        others = "=========     at at::native::fill(float *)+0x70\n"
        ran = self.run_on(others + CLEAN)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual([line.split(":")[0] for line in ran.stdout.splitlines()],
                         ["memcheck", "racecheck", "initcheck", "synccheck"])
        self.assertIn("memcheck: 0 found; 7 cases: 7 pass", ran.stdout)

    def test_counts_what_a_kernel_of_ours_does(self):
        race = ("========= Error: Race reported between Write access at bic::cuda::x(int)+0x50\n"
                "=========     and Read access at bic::cuda::x(int)+0x60\n")
        for finding in ("=========     at void bic::cuda::x<float>(int)+0x70\n", race):
            ran = self.run_on(finding + CLEAN, "racecheck")
            self.assertEqual(ran.returncode, 1, ran.stderr)
            self.assertIn("racecheck: 1 found", ran.stdout)

    def test_fails_where_the_kernels_do_not_conform(self):
        ran = self.run_on("does not conform: 1 red cases\n" + CLEAN, "memcheck")
        self.assertEqual(ran.returncode, 1, ran.stderr)

    def test_believes_no_tool_that_did_not_look(self):
        for output, canary in ((CLEAN, ""), ("7 cases: 7 pass", SEES),
                               ("========= ERROR SUMMARY: 0 errors", SEES)):
            ran = self.run_on(output, "memcheck", canary=canary)
            self.assertEqual((ran.returncode, ran.stdout), (4, ""), ran.stderr)
            self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)

    def test_knows_its_tools(self):
        ran = self.run_on(CLEAN, "memchek")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("unknown tool 'memchek'", ran.stderr)


if __name__ == "__main__":
    unittest.main()
