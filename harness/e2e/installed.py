"""An installation of the built program, in a folder that knows nothing of the build."""
import pathlib
import shutil
import subprocess
import tempfile

import program

BUILD = program.PROGRAM.parents[1]
SMALL = ("--op", "mm", "--dtype", "fp32", "--batch", "1,5,33", "--no-perf", "--jobs", "2")


def called(*command, cwd=None):
    ran = subprocess.run([str(c) for c in command], cwd=cwd, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


class InstalledTest(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        called("cmake", "--install", BUILD, "--prefix", cls.folder / "first", "--component",
               "program")
        # Where it was put first says nothing of where it is.
        cls.prefix = cls.folder / "an other place"
        (cls.folder / "first").rename(cls.prefix)

    def run_it(self, *arguments, **variables):
        return subprocess.run(
            [self.prefix / "bin/bi-conform", *map(str, arguments)], cwd=self.folder, text=True,
            env=program.environment(**variables), stdin=subprocess.DEVNULL, timeout=120,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def assert_conforms(self, *backend, **variables):
        ran = self.run_it("--backend", *backend, *SMALL, "--out", self.folder / "run", **variables)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        self.assertIn("on 1 of", ran.stdout)
