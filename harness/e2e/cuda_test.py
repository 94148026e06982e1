#!/usr/bin/env python3
"""--device of the LibTorch backends and BIC_TORCH: what is refused, without a GPU."""
import pathlib
import re
import tempfile
import unittest

import program

LIB = program.PROGRAM.parent.parent / "lib"
NOTE = LIB / "libbic_models.torch"


class Package:
    """A folder that looks like an installed torch."""

    def __init__(self, version, *libraries):
        self._folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self._folder.name)
        (self.path / "lib").mkdir()
        for name in libraries:
            (self.path / "lib" / name).touch()
        number, commit = version.split(" ")
        (self.path / "version.py").write_text(
            f"from typing import Optional\n__version__ = '{number}'\ndebug = False\n"
            f"cuda: Optional[str] = '13.0'\ngit_version = '{commit}'\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()


class Device(program.ProgramTest):
    def test_that_is_none_is_refused(self):
        for device in ("tpu", "cuda:", "cuda:x", "CUDA", "cuda:0000"):
            self.assert_refused(["--backend", "libtorch", "--device", device],
                                f"--device: '{device}' is none of cpu, cuda, cuda:INDEX")

    def test_is_not_for_kernels_of_the_cpu(self):
        fault = re.search(r"fault:[a-z]\S+", program.run("list", "backends").stdout).group()
        self.assert_refused(["--backend", fault, "--device", "cuda"],
                            "runs on the CPU only", fault, "'cuda'")
        self.assert_refused(["--backend", f"plugin:{LIB}/plugins/mm.so", "--device", "cuda"],
                            "runs on the CPU only", "libtorch:PATH.so")
        self.assert_refused(["--backend", "openblas", "--lift", "--device", "cuda"],
                            "'openblas' runs on the CPU only")

    @unittest.skipIf((LIB / "libbic_cuda.so").exists(), "this build has kernels for CUDA")
    def test_is_for_bundled_kernels_that_were_built(self):
        self.assert_refused(["--backend", "libtorch-invariant", "--device", "cuda"],
                            "has no kernels for 'cuda' in this build", "nvcc")

    def test_that_is_not_there_is_one_line(self):
        ran = program.run("support", "--backend", "libtorch", "--device", "cuda:999")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        self.assertIn("cannot use the device 'cuda:999'", ran.stderr)

    def test_of_the_cpu_by_name_is_the_default(self):
        ran = program.run("support", "--backend", "libtorch", "--device", "cpu")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(ran.stdout.startswith("libtorch on cpu\n"), ran.stdout)


class TorchPackage(program.ProgramTest):
    """What BIC_TORCH names."""

    def refuse(self, path, *parts, device="cpu"):
        ran = program.run("support", "--backend", "libtorch", "--device", device,
                          env=program.environment(BIC_TORCH=str(path)))
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Abi-conform: BIC_TORCH: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, ran.stderr)

    def test_that_is_not_there_is_refused(self):
        self.refuse("/no/torch", "'/no/torch'", "lib/libtorch_cpu.so")

    def test_that_is_wrong_hinders_nobody_who_needs_none(self):
        ran = program.run("list", "ops", env=program.environment(BIC_TORCH="/no/torch"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("pi0", ran.stdout)

    def test_of_another_version_is_refused(self):
        with Package("2.10.0 abc", "libtorch_cpu.so") as package:
            self.refuse(package.path, "torch 2.10.0 abc", NOTE.read_text().strip())

    def test_without_cuda_is_refused_for_a_device(self):
        with Package(NOTE.read_text().strip(), "libtorch_cpu.so") as package:
            self.refuse(package.path, "lib/libtorch_cuda.so", device="cuda:1")

    def test_is_loaded_before_the_worker(self):
        with Package(NOTE.read_text().strip(), "libtorch_cpu.so") as package:
            ran = program.run("support", "--backend", "libtorch",
                              env=program.environment(BIC_TORCH=str(package.path)))
        self.assertEqual((ran.returncode, ran.stderr.count("\n")), (2, 1), ran.stderr)
        self.assertIn("libtorch_cpu.so: file too short", ran.stderr)


if __name__ == "__main__":
    unittest.main()
