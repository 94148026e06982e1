#!/usr/bin/env python3
"""--against between PyTorch's kernels and the bundled ones. Needs LibTorch."""
import pathlib
import tempfile
import unittest

import program


class TorchPeer(program.ProgramTest):
    def judge(self, peer, code):
        with tempfile.TemporaryDirectory() as folder:
            ran = program.run("--backend", "libtorch-invariant", "--against", peer, "--op", "mm",
                              "--dtype", "fp32", "--batch", "1,5,33", "--no-perf", "--out", folder)
            self.assertEqual((ran.returncode, ran.stderr), (code, ""), ran.stdout)
            report = program.parse((pathlib.Path(folder) / "report.json").read_text())
        self.assertEqual(report["ops"][0]["level"], "BI-3")
        return [c for c in report["cases"] if ".peer/" in c["case"]]

    def test_agrees_with_itself(self):
        cases = self.judge("libtorch-invariant", code=0)
        self.assertEqual({c["status"] for c in cases}, {"pass"})

    def test_has_other_bits_than_stock(self):
        cases = self.judge("libtorch", code=1)
        failed = [c for c in cases if c["status"] == "fail"]
        self.assertGreater(len(failed), 0)
        self.assertEqual({reason for c in failed for reason in c["reasons"]}, {"bits"})


if __name__ == "__main__":
    unittest.main()
