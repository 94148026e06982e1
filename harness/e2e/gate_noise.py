#!/usr/bin/env python3
"""gate_noise.py PROGRAM RUNS FOLDER [RUN-ARGUMENT...]: whether a gate takes noise for a slow-down, or
a slow-down for noise. Gates RUNS times on what the arguments run, against a baseline of the same;
then a plug-in's mm with a planted delay of 30 %, against the same without. Writes the figures to
FOLDER/gate.md. Exit codes: 0 none of the first was red and all of the second were, 1 not."""
import pathlib
import re
import shutil
import sys

import disturb
import program

MM = ("--op", "mm", "--dtype", "fp32", "--relation", "repeat")
SOUND = ("--backend", f"plugin:{disturb.PLUGINS / 'mm.so'}", *MM)
SLOW = ("--backend", f"plugin:{disturb.PLUGINS / 'slow_mm.so'}", *MM)  # by 30 %
LONGEST = 3600
ONE_MEASUREMENT = 30  # blocks of a row


class Gates:
    """Gates of one sort against one baseline."""

    def __init__(self, folder, before, arguments):
        self.folder, self.before, self.arguments = folder, before, arguments
        self.red, self.further, self.rows, self.slower = 0, 0, 0, []
        shutil.rmtree(folder, ignore_errors=True)

    def make_baseline(self):
        ran = program.run(*self.before, "--out", self.folder / "before", timeout=LONGEST)
        assert ran.returncode in (0, 1, 3), ran.stdout + ran.stderr

    def gate(self):
        ran = program.run("gate", *self.arguments, "--baseline", self.folder / "before", "--out",
                          self.folder / "now", timeout=LONGEST)
        assert ran.returncode in (0, 1, 3), ran.stdout + ran.stderr
        self.red += ran.returncode == 1
        report = program.parse((self.folder / "now/report.json").read_text())
        blocks = [len(row["throughput"]["backend_blocks_ns"]) for row in report["ops"]
                  if "throughput" in row]
        self.rows += len(blocks)
        self.further += sum(n > ONE_MEASUREMENT for n in blocks)
        section = re.search(r"\nRED slower: .*\n((?:  .*\n)*)", ran.stdout)
        self.slower += section.group(1).splitlines() if section else []
        print(f"{self.folder.name}: exit {ran.returncode}", flush=True)

    def run(self, times):
        self.make_baseline()
        for _ in range(times):
            self.gate()
        return self


def percents(lines):
    return sorted(int(re.search(r": (\d+) % slower", line).group(1)) for line in lines)


def page(same, slow, runs):
    seen = percents(slow.slower)
    seen = f"{seen[0]} to {seen[-1]} %" if seen else "none"
    return "\n".join([
        f"Gates: {runs} each; the first is `{' '.join(map(str, same.arguments))}`.",
        "",
        "| what | red | rows timed | measured further | called slower |",
        "|---|--:|--:|--:|---|",
        f"| against itself | {same.red} of {runs} | {same.rows} | {same.further} "
        f"| {len(same.slower)} rows |",
        f"| mm with a planted delay of 30 % | {slow.red} of {runs} | {slow.rows} "
        f"| {slow.further} | {len(slow.slower)} rows, by {seen} |",
        ""])


def main():
    runs, folder, arguments = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    same = Gates(folder / "same", arguments, arguments).run(runs)
    slow = Gates(folder / "slow", SOUND, SLOW).run(runs)
    text = page(same, slow, runs)
    (folder / "gate.md").write_text(text)
    print(text)
    held = same.red == 0 and slow.red == runs and len(slow.slower) == runs
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
