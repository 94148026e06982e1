#!/usr/bin/env python3
"""The claims that the ci/ scripts make, tried on a copy of them around a stub project.

Stand-ins for dpkg-query, apt-get, sudo, id and pip play the other machines: nothing is installed, and
nothing outside a temporary folder is written.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CI = pathlib.Path(__file__).resolve().parent

CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.25)
project(stub LANGUAGES CXX)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
add_executable(bi-conform main.cpp)
add_custom_target(programs DEPENDS bi-conform)
enable_testing()
add_test(NAME stub COMMAND bi-conform 0)
install(TARGETS bi-conform DESTINATION bin)
set(CPACK_GENERATOR TGZ)
include(CPack)
"""

# Prints its directory and arguments, one a line, and exits with the first argument.
MAIN_CPP = """
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
int main(int argc, char** argv) {
  char here[4096];
  std::puts(getcwd(here, sizeof here));
  for (int i = 1; i < argc; ++i) std::puts(argv[i]);
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
"""

# Says that every package but libfmt-dev is installed.
LACKS_FMT = r'printf "%s installed\n" "$@" | grep -v libfmt-dev'
LACKS_NOTHING = r'printf "%s installed\n" "$@"'

# Unpacks what find_torch looks for into the folder named after --target.
PIP_THAT_WORKS = """
echo called >>"$0.calls"
while [[ $1 != --target ]]; do shift; done
mkdir -p "$2/torch/lib" && touch "$2/torch/lib/libtorch_cpu.so"
"""


# Makes an environment; takes whatever is to be installed there.
VENV_THAT_WORKS = """
echo "${@:2}" >>"$0.calls"
[[ $3 != venv ]] || { mkdir -p "$5/bin" && cp "$0" "$5/bin/python"; }
"""


class CiScripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.project = cls.work / "project"
        shutil.copytree(CI, cls.project / "ci")
        shutil.copy(CI.parent / "CMakePresets.json", cls.project)
        (cls.project / "CMakeLists.txt").write_text(CMAKE_LISTS)
        (cls.project / "main.cpp").write_text(MAIN_CPP)
        # The scripts name Debian's Python by its path, which no PATH can stand in for.
        setup = cls.project / "ci" / "setup"
        setup.write_text(setup.read_text().replace("/usr/bin/python3", f"{cls.work}/bin/pip-python"))

    def setUp(self):
        shutil.rmtree(self.work / "bin", ignore_errors=True)
        self.stand_in("dpkg-query", LACKS_NOTHING)
        self.stand_in("apt-get", "exit 99")
        self.stand_in("python3", "exit 1")  # imports no torch
        self.stand_in("pip-python", PIP_THAT_WORKS)

    def stand_in(self, name, script):
        path = self.work / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def command(self, script, *arguments, cwd=None, **variables):
        inherited = {name: os.environ[name] for name in os.environ if not name.startswith("BIC_")}
        environment = {
            **inherited,
            "PATH": f"{self.work}/bin:{os.environ['PATH']}",
            "BIC_LIBTORCH": "OFF",
            "CCACHE_DISABLE": "1",
            **variables,
        }
        return dict(
            args=[str(script), *arguments],
            cwd=cwd or self.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_script(self, name, *arguments, **keywords):
        return subprocess.run(**self.command(self.project / "ci" / name, *arguments, **keywords))

    def assert_one_line(self, text, *parts):
        self.assertEqual(text.count("\n"), 1, text)
        for part in parts:
            self.assertIn(part, text)


class Conform(CiScripts):
    def test_runs_in_the_callers_directory_through_a_link(self):
        here = self.work / "else where"
        here.mkdir()
        (here / "link").symlink_to(self.project / "ci" / "conform")
        ran = subprocess.run(**self.command("./link", "0", "a b", cwd=here))
        self.assertEqual((ran.returncode, ran.stdout), (0, f"{here}\n0\na b\n"), ran.stderr)

    def test_ends_with_the_programs_exit_code(self):
        self.assertEqual(self.run_script("conform", "3").returncode, 3)

    def test_judges_the_bundled_kernels_by_default(self):
        ran = self.run_script("conform")
        self.assertEqual(ran.stdout, f"{self.work}\n--backend\nlibtorch-invariant\n")

    def test_is_silent_when_nothing_is_out_of_date(self):
        self.run_script("conform", "0")
        self.assertEqual(self.run_script("conform", "0").stderr, "")

    def test_needs_no_environment(self):
        shutil.rmtree(self.project / "build" / "release", ignore_errors=True)
        environment = {"BIC_LIBTORCH": "OFF"}
        ran = subprocess.run([self.project / "ci" / "conform", "3"], env=environment,
                             capture_output=True, check=False)
        self.assertEqual(ran.returncode, 3, ran.stderr)

    def test_takes_a_failed_build_for_no_verdict(self):
        main = self.project / "main.cpp"
        main.write_text(MAIN_CPP + "int number = \"text\";\n")
        ran = self.run_script("conform", "0")
        main.write_text(MAIN_CPP)
        self.assertEqual((ran.returncode, ran.stdout), (4, ""))
        self.assertIn("invalid conversion", ran.stderr)
        self.assertIn("build.log", ran.stderr.splitlines()[-1])

    def test_builds_once_when_called_several_times_at_once(self):
        (self.project / "main.cpp").touch()
        script = self.project / "ci" / "conform"
        calls = [subprocess.Popen(**self.command(script, "0")) for _ in range(3)]
        errors = [call.communicate()[1] for call in calls]
        self.assertEqual([call.returncode for call in calls], [0, 0, 0], errors)
        self.assertEqual(sum("building" in error for error in errors), 1, errors)


class Test(CiScripts):
    def test_runs_ctest_and_says_how_long(self):
        ran = self.run_script("test")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("100% tests passed", ran.stdout)
        self.assertRegex(ran.stderr, r"tests took \d+ s")

    def test_fails_when_no_test_is_selected(self):
        self.assertNotEqual(self.run_script("test", "-R", "nothing_of_this_name").returncode, 0)


class Package(CiScripts):
    def test_prints_where_the_archive_lies(self):
        for folder in ("", "else where"):
            ran = self.run_script("package", *filter(None, [folder]))
            self.assertEqual(ran.returncode, 0, ran.stderr)
            archive = pathlib.Path(ran.stdout.removesuffix("\n"))
            place = self.work / folder if folder else self.project / "build" / "package"
            self.assertEqual(list(place.iterdir()), [archive])
            self.assertIn("/bin/bi-conform\n", subprocess.check_output(
                ["tar", "-tzf", archive], text=True))

    def test_of_a_failed_build_is_none(self):
        (self.project / "main.cpp").write_text(MAIN_CPP + "int number = \"text\";\n")
        ran = self.run_script("package", "none")
        (self.project / "main.cpp").write_text(MAIN_CPP)
        self.assertEqual((ran.returncode, ran.stdout), (4, ""))
        self.assertFalse((self.work / "none").exists())


class Setup(CiScripts):
    def test_without_rights_prints_one_line_to_type(self):
        self.stand_in("dpkg-query", LACKS_FMT)
        self.stand_in("id", "echo 1000")
        self.stand_in("sudo", "exit 1")
        ran = self.run_script("conform", "0")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assert_one_line(ran.stderr, "sudo sh -c 'apt-get update && ", " libfmt-dev'")

    def test_installs_only_what_is_missing_with_a_sudo_that_asks_nothing(self):
        self.stand_in("dpkg-query", LACKS_FMT)
        self.stand_in("id", "echo 1000")
        self.stand_in("sudo", '[[ $1 == -n ]] && shift && "$@"')
        self.stand_in("apt-get", 'echo "$DEBIAN_FRONTEND ${@: -1}" >>"$0.calls"')
        self.assertEqual(self.run_script("conform", "0").returncode, 0)
        calls = (self.work / "bin" / "apt-get.calls").read_text()
        self.assertEqual(calls, "noninteractive update\nnoninteractive libfmt-dev\n")

    def test_shows_why_an_installation_failed(self):
        self.stand_in("dpkg-query", LACKS_FMT)
        self.stand_in("id", "echo 0")
        self.stand_in("apt-get", "echo 'E: out of luck'; exit 100")
        ran = self.run_script("conform", "0")
        self.assertEqual(ran.returncode, 4)
        self.assertIn("E: out of luck", ran.stderr)
        self.assertIn("setup.log", ran.stderr.splitlines()[-1])

    def test_names_a_folder_that_holds_no_torch(self):
        ran = self.run_script("conform", BIC_LIBTORCH="ON", BIC_TORCH_DIR="/nowhere")
        self.assertEqual(ran.returncode, 2)
        self.assert_one_line(ran.stderr, "BIC_TORCH_DIR=/nowhere")

    def test_takes_no_interrupted_torch_for_a_finished_one(self):
        torch = self.project / "build" / "torch"
        self.stand_in("pip-python", PIP_THAT_WORKS + "kill -KILL $PPID\n")
        self.assertNotEqual(self.run_script("conform", "0", BIC_LIBTORCH="ON").returncode, 0)
        self.assertFalse(torch.exists())

        self.stand_in("pip-python", PIP_THAT_WORKS)
        self.assertEqual(self.run_script("conform", "0", BIC_LIBTORCH="ON").returncode, 0)
        self.assertTrue((torch / "torch/lib/libtorch_cpu.so").exists())

        self.stand_in("pip-python", "exit 1")  # must not be called again
        self.assertEqual(self.run_script("conform", "0", BIC_LIBTORCH="ON").returncode, 0)


class PythonTorch(CiScripts):
    def setUp(self):
        super().setUp()
        self.folder = self.project / "build" / "python-torch"
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def test_is_made_once_and_given_to_the_tests(self):
        self.stand_in("pip-python", VENV_THAT_WORKS)
        self.assertEqual(self.run_script("python-torch").returncode, 0)
        venv, pip = (self.work / "bin" / "pip-python.calls").read_text().splitlines()
        self.assertIn("-m venv --without-pip", venv)
        self.assertRegex(pip, r"-m pip --python .*/bin/python install .* torch==2\.11\.0 numpy==")

        self.stand_in("pip-python", "exit 1")  # must not be called again
        ran = self.run_script("python-torch")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))
        self.assertEqual(self.run_script("conform", "0").returncode, 0)
        cache = (self.project / "build" / "release" / "CMakeCache.txt").read_text()
        self.assertIn(f"BIC_PYTHON_TORCH:UNINITIALIZED={self.folder}/bin/python\n", cache)

    def test_that_was_interrupted_is_not_taken_for_a_finished_one(self):
        self.stand_in("pip-python", VENV_THAT_WORKS + "[[ $3 == venv ]] || exit 1\n")
        ran = self.run_script("python-torch")
        self.assertEqual(ran.returncode, 4, ran.stderr)
        self.assertIn("setup.log", ran.stderr)
        self.assertFalse(self.folder.exists())


if __name__ == "__main__":
    unittest.main()
