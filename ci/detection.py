#!/usr/bin/env python3
"""detection.py FOLDER: writes docs/detection.md, on stdout, from what ci/soak left in FOLDER."""
import collections
import json
import pathlib
import sys

RED = ("error", "fail", "unstable", "refused", "crash", "timeout", "blocked", "unexpected_pass")
NOT_YET = "Not run yet: `ci/soak {}`."

# Why a law stays that is not the only one to show some fault.
STAYS = {
    "linspace": "the input of the first public report: a failure on it is one that its readers know",
    "uniform": "terms of one sign, on which a lost term is largest beside the bound",
    "normal": "what everybody tests with: a failure on it convinces",
}

# Why a fault survives some seeds, and what would see it.
ONE_PROBLEM = "only law {} shows it, which one of six problems follows; `--standard` has four"
SURVIVES = {
    "outlier-columns": ONE_PROBLEM.format("outlier"),
    "rescaled-rows": ONE_PROBLEM.format("wide"),
    "zero-skip": "only law integers has zeros, and a zero must stand before a term that decides; `--standard`",
    "hash-collision": "two samples of a batch must collide in 3 bits and be looked up in that order; more trials",
    "padded-length": "one mask of six pads, and its split must fall between keys that matter to a telling sample; "
    "more problems of that mask",
    "unaligned-k": "seen only where K is no multiple of 8 and its padding is; more lengths of padding",
    "scalar-tail": "exp in double and in fp32, each rounded once, differ in few elements of so short a tail; "
    "the 65,536 inputs of the 16-bit sweep",
    "block-by-rows": "the flipped order agrees on the telling samples although the controls differ; more of them",
    "broadcast-batch": "the flipped order agrees on the telling samples although the controls differ; more of them",
    "cached-by-content": "the flipped order agrees on the telling samples although the controls differ; more of them",
    "replayed": "the flipped order agrees on the telling samples although the controls differ; more of them",
}


def load(folder, part):
    path = folder / part / "selftest.json"
    return json.loads(path.read_text()) if path.exists() else None


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def ordered(items):
    return list(dict.fromkeys(items))


def classes(matrix, recipe):
    """Class by class: killed by the suite, killed by the recipe."""
    by_recipe = {h["fault"]: h["killed"] for h in recipe["hunts"]} if recipe else {}
    rows = []
    for group in ordered(h["group"] for h in matrix["hunts"]):
        faults = [h for h in matrix["hunts"] if h["group"] == group]
        killed = sum(h["killed"] for h in faults)
        seen = sum(by_recipe.get(h["fault"], False) for h in faults)
        rows.append((group, len(faults), killed, seen if recipe else ""))
    totals = [sum(row[i] for row in rows if row[i] != "") for i in (1, 2, 3)]
    return table(("class", "faults", "killed by bi-conform", "killed by the recipe"), rows + [("**all**", *totals)])


def faults(matrix):
    rows = []
    for h in matrix["hunts"]:
        relations = ordered(k["relation"] for k in h["kills"])
        laws = ordered(k["law"] for k in h["kills"])
        rows.append((h["fault"], h["sentence"], f"{len(h['ops'])}", " ".join(relations), " ".join(laws)))
    return table(("fault", "what it does", "ops", "relations that see it", "laws that show it"), rows)


def kills(matrix):
    """Number of faults that each pair of law and relation kills."""
    count = collections.Counter()
    for h in matrix["hunts"]:
        count.update({(k["law"], k["relation"]) for k in h["kills"]})
    relations = sorted({r for _, r in count})
    rows = [(law, *(count[law, r] or "" for r in relations)) for law in sorted({l for l, _ in count})]
    return table(("law", *relations), rows)


def sole(matrix, key):
    """For each relation or law the faults that nothing else sees."""
    alone = collections.defaultdict(list)
    seen = set()
    for h in matrix["hunts"]:
        names = {k[key] for k in h["kills"]}
        seen |= names
        if len(names) == 1:
            alone[names.pop()].append(h["fault"])
    rows = [(name, ", ".join(alone[name]) or "none; it stays: " + STAYS.get(name, "**no reason is written**")) for name in sorted(seen)]
    return table((key, "faults that it alone sees"), rows)


def survivors(seeds):
    hunts = seeds["hunts"]
    ops = [o for h in hunts for o in h["ops"]]
    counts = [("faults killed on every op that they touch", sum(h["killed"] for h in hunts), len(hunts)),
              ("faults killed on at least one", sum(any(o["killed"] for o in h["ops"]) for h in hunts), len(hunts)),
              ("pairs of fault and op", sum(o["killed"] for o in ops), len(ops))]
    text = table(("over 20 seeds", "killed", "of", "share"),
                 [(what, n, of, f"{100 * n / of:.2f} %") for what, n, of in counts])
    missed = collections.defaultdict(list)
    for h in hunts:
        for o in h["ops"]:
            if not o["killed"]:
                missed[h["fault"]].append(f"{o['op']} {h['seed'].lstrip('0')}")
    rows = [(fault, ", ".join(where), SURVIVES.get(fault, "**no reason is written**")) for fault, where in missed.items()]
    return text + [""] + (table(("survivor", "op and seed", "why, and what would see it"), rows) if rows else [])


def alarms(folder):
    runs = [json.loads(p.read_text()) for p in sorted(folder.glob("alarms/*/report.json"))]
    if not runs:
        return [NOT_YET.format("alarms")]
    rows = []
    for r in runs:
        t = r["totals"]
        red = sum(t[s] for s in RED)
        rows.append((r["run"]["seed"].lstrip("0"), t["planned"], t["pass"], t["vacuous"], red))
    rows.append(("**all**", *(sum(row[i] for row in rows) for i in range(1, 5))))
    return table(("seed", "cases", "pass", "vacuous", "red"), rows)


def machine(folder):
    """Where the runs of the last part were made, as their reports say."""
    reports = sorted(folder.glob("alarms/*/report.json"))
    environment = json.loads(reports[0].read_text()).get("environment") if reports else None
    return [f"Made on: {environment['cpu']}, {environment['cores']} cores.", ""] if environment else []


def page(folder):
    matrix, recipe, seeds = (load(folder, part) for part in ("matrix", "recipe", "seeds"))
    if matrix is None:
        sys.exit(f"detection.py: {folder}/matrix/selftest.json is missing; run ci/soak matrix")
    out = ["# What the suite sees", "",
           "Made by `ci/soak`. A planted fault is the bundled backend broken in one way; it is killed when on",
           "every op that it touches a case of the quick plan goes red with the status and the reason that its",
           "catalog entry gives. `bi-conform selftest` repeats it up to the first kill of each op.", "",
           *machine(folder),
           "## Killed, by class", ""] + classes(matrix, recipe)
    out += ["", "The recipe is the check that people use today (`bi-conform selftest --recipe`): standard normal",
            "inputs, row 0 of a batch of 2, 8, 32, 128 against a batch of one, equal within the default tolerances",
            "of `torch.testing.assert_close`, on the same ops and dtypes, with sizes from the same ranges."]
    out += ["", "## Other seeds", ""] + (survivors(seeds) if seeds else [NOT_YET.format("seeds")])
    out += ["", "## No false alarms", "", "Judged comparisons on `libtorch-invariant` over other seeds:", ""] + alarms(folder)
    out += ["", "## Who sees what", "", "Faults killed by each law and relation; `docs/kill_matrix.csv` has the cases.", ""] + kills(matrix)
    out += [""] + sole(matrix, "relation") + [""] + sole(matrix, "law")
    out += ["", "## The faults", ""] + faults(matrix)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(pathlib.Path(sys.argv[1])))
