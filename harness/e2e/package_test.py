#!/usr/bin/env python3
"""What is installed and packed, away from build and source: the program, its Python worker, plug-ins, and
the libraries for people who build on them.
"""
import re
import subprocess
import unittest

import disturb
import program
from installed import BUILD, InstalledTest, called

PARTS = ("nlohmann/json", "fmt", "pugixml", "CLI11", "RapidCheck", "Mustache", "valijson", "Highway")


class Installed(InstalledTest):
    def test_says_its_version(self):
        ran = self.run_it("--version")
        self.assertRegex(ran.stdout, r"\Abi-conform \d+\.\d+\.\d+\n\Z")

    def test_finds_its_python_worker(self):
        module = self.prefix / "share/bi-conform/examples/python/numpy_ops.py"
        self.assert_conforms(f"python:{module}", "--python", program.python_with_numpy())

    def test_finds_the_worker_of_plug_ins(self):
        self.assert_conforms(f"plugin:{disturb.PLUGINS / 'mm.so'}")

    def test_says_how_to_get_the_torch_that_it_has_not(self):
        ran = self.run_it("--backend", "libtorch")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertRegex(ran.stderr, r"\Abi-conform: --backend: 'libtorch' needs [^\n]+\n\Z")
        if (self.prefix / "lib/libbic_libtorch.so").exists():
            self.assertIn(f"pip install --no-deps --target '{self.prefix}/lib'", ran.stderr)
            self.assertTrue((self.prefix / "share/bi-conform/torch.txt").is_file())

    def test_loads_nothing_from_the_build(self):
        binaries = [self.prefix / "bin/bi-conform", *(self.prefix / "lib").glob("*.so*")]
        self.assertGreater(len(binaries), 1)
        for file in binaries:
            with self.subTest(file.name):
                paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", called("readelf", "-d", file))
                self.assertLessEqual(set(paths), {"$ORIGIN:$ORIGIN/torch/lib"})
                self.assertNotIn(str(BUILD), called("ldd", file))

    def test_brings_licences_of_all_that_is_in_it(self):
        docs = self.prefix / "share/doc/bi-conform"
        self.assertIn("Apache License", (docs / "LICENSE").read_text())
        licences = (docs / "third_party_licences.txt").read_text()
        for part in PARTS:
            self.assertRegex(licences, rf"(?m)^  {part} ")


class Packed(InstalledTest):
    def test_runs_where_it_is_unpacked(self):
        called("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", self.folder / "packed")
        archive, = (self.folder / "packed").glob("*.tar.gz")
        self.assertRegex(archive.name, r"\Abi-conform-\d+\.\d+\.\d+-linux-[a-z0-9_]+\.tar\.gz\Z")
        called("tar", "-xzf", archive, cwd=self.folder)
        self.prefix = self.folder / archive.name.removesuffix(".tar.gz")
        self.assert_conforms(f"plugin:{disturb.PLUGINS / 'mm.so'}")
        self.assertFalse(list(self.prefix.glob("lib/*.a")), "libraries are for cmake --install")


class Found(InstalledTest):
    def test_by_a_project_of_somebody_elses(self):
        called("cmake", "--install", BUILD, "--prefix", self.prefix)
        example = self.prefix / "share/doc/bi-conform/docs/examples/own_judge"
        called("cmake", "-G", "Ninja", "-S", example, "-B", self.folder / "own",
               "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        called("cmake", "--build", self.folder / "own")
        ran = subprocess.run([self.folder / "own/own_judge"], capture_output=True, text=True,
                             check=True)
        varying, invariant = ran.stdout.splitlines()
        self.assertRegex(varying, r"0x[0-9a-f]{8} alone, 0x[0-9a-f]{8} in a batch of 8")
        self.assertTrue(invariant.endswith("equal bits"), invariant)


if __name__ == "__main__":
    unittest.main()
