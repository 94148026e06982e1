#!/usr/bin/env python3
"""disturb.py PROGRAM KILLS FOLDER [BACKEND-ARGUMENT...]: kills runs at random moments until as many
SIGKILLs were sent, resumes each until it is complete, and compares its report with that of a run
that nothing disturbed. Writes the figures to FOLDER/kills.md. Exit codes: 0 all equal, 1 not."""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import program

PLUGINS = program.PROGRAM.parent.parent / "lib" / "plugins"
CONFORMING = ("--backend", f"plugin:{PLUGINS / 'mm.so'}", "--op", "mm", "--dtype", "fp32")
FAILING = ("--backend", f"plugin:{PLUGINS / 'leaves_one_out.so'}", "--op", "mm", "--dtype", "fp32")
COMMON = ("--no-perf", "--jobs", "2")


def text_of(path):
    """Empty where the process has just ended."""
    try:
        return path.read_text()
    except OSError:
        return ""


def workers_of(process):
    """Process ids of the workers that it has now."""
    proc = pathlib.Path("/proc")
    tasks = proc.glob(f"{process}/task/*/children")
    children = [child for task in tasks for child in text_of(task).split()]
    return [int(c) for c in children if text_of(proc / c / "comm").strip() not in ("", "bic-keeper")]


def kill(process):
    """Whether it was still there."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class Disturber:
    """Kills the program and its workers, at moments that the seed gives, `pace` seconds apart in
    the mean; and cuts what a killed program had written at a random byte."""

    def __init__(self, seed, kills, pace):
        self.random = random.Random(seed)
        self.kills, self.pace = kills, pace
        self.count = collections.Counter()

    def run(self, arguments, folder):
        """Runs and resumes until there is a report; its exit code."""
        while True:
            self.count["starts"] += 1
            begun = b"\n" in self.journal(folder)
            ran = subprocess.Popen(
                [program.PROGRAM, *map(str, arguments), *COMMON,
                 "--resume" if begun else "--out", folder],
                env=program.environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            killed = self.disturb(ran)
            errors = ran.communicate()[1]
            if killed and (folder / "report.json").exists():
                self.count["kills after the report"] += 1
                return program.parse((folder / "report.json").read_text())["verdict"]["exit_code"]
            if killed:
                self.cut(folder)
            elif "did not start: killed by signal 9" in errors:
                self.count["starts given up"] += 1
            elif errors:
                raise AssertionError(errors)
            else:
                return ran.returncode

    def disturb(self, ran):
        """Whether it killed the program itself."""
        while self.count["kills"] < self.kills:
            try:
                ran.wait(self.random.expovariate(1 / self.pace))
                return False
            except subprocess.TimeoutExpired:
                pass
            workers = workers_of(ran.pid)
            victim = self.random.choice(workers) if workers and self.random.random() < 0.5 else ran.pid
            if ran.poll() is not None or not kill(victim):
                continue
            self.count["kills"] += 1
            self.count["of the program" if victim == ran.pid else "of a worker"] += 1
            if victim == ran.pid:
                return True
        ran.wait()
        return False

    @staticmethod
    def journal(folder):
        path = folder / "journal.jsonl"
        return path.read_bytes() if path.exists() else b""

    def cut(self, folder):
        """As if the kill had come in the middle of a write: never into the header."""
        text = self.journal(folder)
        header = text.find(b"\n") + 1
        if header == 0 or self.random.random() < 0.5:
            return
        size = max(header, len(text) - self.random.randrange(3000))
        os.truncate(folder / "journal.jsonl", size)
        self.count["journals cut"] += 1


def cases_in(journal):
    lines = map(json.loads, journal.read_text().splitlines())
    return sorted(line["case"] for line in lines if "case" in line)


def compare(disturbed, undisturbed):
    """What differs but times, in one line; empty when nothing does."""
    reports = [program.parse((f / "report.json").read_text()) for f in (disturbed, undisturbed)]
    ours, theirs = map(program.timeless, reports)
    for key in theirs:
        if ours.get(key) != theirs[key]:
            return f"'{key}' of the report differs"
    if set(ours) != set(theirs):
        return "the report has other members"
    cases = cases_in(disturbed / "journal.jsonl")
    if len(set(cases)) != len(cases) or len(cases) != reports[0]["totals"]["planned"]:
        return "the journal has not every planned case once"
    return "" if cases == cases_in(undisturbed / "journal.jsonl") else "the journal has other cases"


def disturb_all(disturber, workloads, folder):
    """Runs the workloads in turn until all kills are spent. Returns the differences."""
    differences, judged = [], {}
    while disturber.count["kills"] < disturber.kills:
        number = disturber.count["runs"] % len(workloads)
        plain, ours = folder / f"undisturbed-{number}", folder / f"run-{disturber.count['runs']}"
        if number not in judged:
            judged[number] = program.run(*workloads[number], *COMMON, "--out", plain, timeout=600)
        code = disturber.run(workloads[number], ours)
        disturber.count["runs"] += 1
        report = program.parse((ours / "report.json").read_text())
        disturber.count["problems run again for a killed worker"] += report["run"].get("killed_workers", 0)
        difference = compare(ours, plain)
        if not difference and code != judged[number].returncode:
            difference = f"exit code {code}"
        if difference:
            differences.append(f"{ours}: {difference}")
        else:
            shutil.rmtree(ours)
    return differences


def page(disturber, workloads, seconds, differences):
    c = disturber.count
    rows = [("SIGKILLs at random moments", c["kills"]),
            ("of them to the program", c["of the program"]),
            ("of them to a worker", c["of a worker"]),
            ("of them between its report and its end", c["kills after the report"]),
            ("journals cut at a random byte after that", c["journals cut"]),
            ("starts of the program", c["starts"]),
            ("starts that ended because no worker could start", c["starts given up"]),
            ("workers killed in a problem, which was run again",
             c["problems run again for a killed worker"]),
            ("runs resumed until they were complete", c["runs"]),
            ("reports that differ from an undisturbed run's, but for times", len(differences)),
            ("seconds", round(seconds))]
    names = [what[what.index("--backend") + 1] for what in workloads]
    backends = ", ".join(f"`{re.sub('/.*/', '', name)}`" for name in names)
    return "".join([f"Backends: {backends}.\n\n| what | number |\n|---|---:|\n",
                    *(f"| {k} | {v:,} |\n" for k, v in rows)])


def main():
    kills, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    workloads = [CONFORMING, FAILING]
    if len(sys.argv) > 3:
        workloads.append(tuple(sys.argv[3:]))
    disturber, begin = Disturber(seed=0xb1c0, kills=kills, pace=0.3), time.monotonic()
    differences = disturb_all(disturber, workloads, folder)
    text = page(disturber, workloads, time.monotonic() - begin, differences)
    (folder / "kills.md").write_text(text)
    print(text, *differences, sep="\n")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
