#!/usr/bin/env python3
"""Four processes that Open MPI starts are four shards; merged, they are the report of one run."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import program

PLUGIN = program.PROGRAM.parent.parent / "lib" / "plugins" / "mm.so"
WHAT = ("--backend", f"plugin:{PLUGIN}", "--op", "mm", "--no-perf", "--jobs", "1")
# Ranks need not fit the cores of the machine that tests, nor their user be another than root; each
# sees all cores, as one run does; and one that has proved nothing (exit code 3) must not take the
# others with it. Nothing is to be reached by ssh, which need not be there.
MPIRUN = ("mpirun", "-n", "4", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none",
          "--mca", "orte_abort_on_non_zero_status", "0", "--mca", "plm", "isolated")
SKIPPED = 77  # to CTest


class MpiRun(program.ProgramTest):
    def test_makes_each_rank_a_shard(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        whole = program.run(*WHAT, "--out", folder / "whole")
        ranks = subprocess.run([*MPIRUN, program.PROGRAM, *WHAT, "--out", folder / "parts"],
                               env=program.environment(), stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=120, check=False)
        for number in (1, 2, 3, 4):
            self.assertIn(f"shard {number}/4 by OMPI_COMM_WORLD_RANK", ranks.stdout, ranks.stderr)
        merged = program.run("merge", folder / "parts", "--out", folder / "merged")
        self.assertEqual((merged.returncode, merged.stderr), (whole.returncode, ""), merged.stdout)
        reports = [program.parse((folder / f / "report.json").read_text())
                   for f in ("whole", "merged")]
        self.assertEqual(program.timeless(reports[0]), program.timeless(reports[1]))


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("skipped: mpirun is not installed (Debian: openmpi-bin)")
        sys.exit(SKIPPED)
    unittest.main()
