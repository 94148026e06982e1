"""One loaded problem: gathers a trial's inputs, runs the call once, says what happened."""
import contextlib
import hashlib
import math
import os
import sys
import time

from .call_text import CallTextError, Name, parse_attribute, parse_call
from .imported import one_line
from .layout import SIZES, plan_tensor
from .placed import copy_elements, gather, room_for
from .witness import Team, set_poison


class Call:
    """A call text bound to a problem's dims and attributes."""

    def __init__(self, text, names, problem, host, calls):
        self._steps, self._problem = parse_call(text), problem
        self._host, self._calls = host, calls
        self._written = {v.text for s in self._steps for v in calls.writes(s)
                         if isinstance(v, Name) and v.text in names}

    def writes(self, name):
        return name in self._written

    def run(self, tensors):
        """Makes the calls; the result is the output's name, or the last call's first result."""
        made, last = dict(tensors), None
        for step in self._steps:
            named = {key: self._value(v, made) for key, v in step.named.items()}
            result = self._calls.call(step, [self._value(v, made) for v in step.positional], named)
            results = result if isinstance(result, tuple) else (result,)
            if len(results) < len(step.targets):
                raise TypeError(f"{step.op} returned fewer results than the call takes")
            made.update((t, r) for t, r in zip(step.targets, results) if t != "_")
            last = results[0]
        output = self._problem["output"]["name"]
        made_output = any(output in step.targets for step in self._steps)
        return self._host.imported(made[output] if made_output else last)

    def _value(self, value, tensors):
        if isinstance(value, list):
            return [self._value(item, tensors) for item in value]
        if not isinstance(value, Name):
            return value
        name = value.text
        if name in tensors:
            return tensors[name]
        if name in self._problem["dims"]:
            return self._problem["dims"][name]
        if name in self._problem["attributes"]:
            constant = parse_attribute(self._problem["attributes"][name])
            return self._host.dtype(constant) if constant in tuple(SIZES) else constant
        if name in SIZES:
            return self._host.dtype(name)
        raise CallTextError(f"no tensor, dim or attribute '{name}'")


def outcome_of(error):
    """An op that says it cannot is refused; every other exception is one."""
    declined = isinstance(error, NotImplementedError) or "not implemented for" in str(error)
    return {"outcome": "refused" if declined else "exception", "message": one_line(error)}


class Trials:
    _calls_made = 0  # in this process, by all problems

    def __init__(self, subject, problem, pool, output):
        self._calls, self._host = subject.calls, subject.host
        self._problem = problem
        self._pool, self._output = self._host.resident(pool), self._host.shared(output)
        self._kept = {}  # common inputs stay where they are from trial to trial, as weights do
        self._calls.op = problem["op"]
        names = [t["name"] for t in problem["inputs"]]
        self._forms = {form: Call(text,
                                  names + [problem["output"]["name"]] * (form == "out"),
                                  problem, self._host, self._calls)
                       for form, text in problem["calls"].items()}

    def run(self, trial):
        self._host.set_threads(trial["threads"])
        call, placed = self._call_of(trial["form"]), self._place(trial)
        for p in placed:
            p.remember()
        reply = {"outcome": "ran", "message": "", "dtype": "", "shape": [], "unwritten": 0,
                 "input_changed": False, "out_of_bounds": False,
                 "witness": self._seen_before(placed, trial["form"])}
        self._calls.forget()
        self._host.make_poison(self._output_bytes(trial))
        self._host.synchronize()  # the inputs are there, also for streams of the kernel's own
        y, team = None, Team() if self._host.computes_on_host() else None
        with _no_gradients(self._host):
            try:
                y = self._give(trial, call.run, {p.name: p.array for p in placed})
                self._host.synchronize()
            except BaseException as error:  # a kernel may call sys.exit()
                reply.update(outcome_of(error))
                y = None
                self._end_if_lost(error)
        # A device's threads are no team: no setting of the host's changes them.
        reply["witness"]["largest_team"] = team.largest() if team else 1
        reply["witness"]["reached"] = self._calls.reached()
        if y is not None:
            reply["dtype"], reply["shape"], size = self._host.describe(y)
            reply["unwritten"] = copy_elements(self._host, y, size, self._output)
        self._report_changes(call, placed, y, reply)
        return reply

    def _call_of(self, form):
        """Forms of a device are ways to give it the functional call."""
        return self._forms["functional" if form in ("stream", "graph") else form]

    def _give(self, trial, call, arrays):
        if trial["form"] not in ("stream", "graph"):
            return call(arrays)
        from . import device_work  # it imports torch
        return device_work.run(trial, call, arrays)

    def _output_bytes(self, trial):
        output = self._problem["output"]
        shape = plan_tensor(self._problem, output, trial).shape
        return math.prod(shape) * SIZES[output["elements"]]

    def _end_if_lost(self, error):
        """A device that answers no more is this case's doing: the next one needs a new process."""
        if self._host.is_lost():
            print(f"the device is lost: {one_line(error)}", file=sys.stderr, flush=True)
            os._exit(1)

    def _place(self, trial):
        call = self._call_of(trial["form"])
        placed = [self._place_input(t, trial, call) for t in self._problem["inputs"]]
        if trial["form"] == "out":
            placed.append(room_for(self._host, self._problem, trial))
        return placed

    def _place_input(self, tensor, trial, call):
        name = tensor["name"]
        keeps = tensor["pool_stride"] == 0 and trial["pad"] == 0 and not call.writes(name)
        kept = self._kept.get(name)
        if keeps and kept and kept.plan == plan_tensor(self._problem, tensor, trial):
            return kept
        placed = gather(self._host, self._problem, tensor, trial, self._pool)
        if keeps:
            self._kept[name] = placed
        return placed

    def _seen_before(self, placed, form):
        inputs = placed[: len(self._problem["inputs"])]
        of_batch = hashlib.blake2b(digest_size=8)
        for p, tensor in zip(inputs, self._problem["inputs"]):
            if tensor["pool_stride"]:
                of_batch.update(p.stored())
        Trials._calls_made += 1
        return {"address_mod_64": [self._host.address(p.array) % 64 for p in inputs],
                "strides": [list(self._host.strides(p.array)) for p in inputs],
                "shapes": [list(p.array.shape) for p in inputs],
                "input_digest": int.from_bytes(of_batch.digest(), "little"),
                "form": form,
                "calls": Trials._calls_made,
                "gave_output": False,
                "largest_team": 0,
                "reached": []}

    def _report_changes(self, call, placed, y, reply):
        for p in placed:
            if not p.guards_hold():
                reply["out_of_bounds"] = True
            if not call.writes(p.name):
                reply["input_changed"] |= p.changed()
                continue
            # Its elements are the op's to write, the gaps between them are not.
            if p.changed_between_elements():
                reply["out_of_bounds"] = True
            if y is not None and self._host.is_same(y, p.array):
                reply["witness"]["gave_output"] = True
        if reply["input_changed"] or reply["out_of_bounds"]:
            self._kept.clear()

    def time(self, request):
        self._host.set_threads(request["threads"])
        call = self._forms[request["form"]]
        sets = [{p.name: p.array for p in self._place(request)}
                for _ in range(max(1, request["copies"]))]
        if request["copies_common"]:
            sets = [{name: self._host.cloned(x) for name, x in s.items()} for s in sets]
        reply = {"outcome": "ran", "message": "", "nanoseconds": 0}
        set_poison(False)
        try:
            with _no_gradients(self._host):
                y = call.run(sets[0])
                self._host.synchronize()
                begin = time.perf_counter_ns()
                for i in range(request["calls"]):
                    y = call.run(sets[(i + 1) % len(sets)])
                self._host.synchronize()
                reply["nanoseconds"] = time.perf_counter_ns() - begin
            copy_elements(self._host, y, self._host.describe(y)[2], self._output)
        except BaseException as error:
            reply.update(outcome_of(error))
            self._end_if_lost(error)
        finally:
            set_poison(True)
        return reply


def _no_gradients(host):
    return host.torch.inference_mode() if host.NAME == "torch" else contextlib.nullcontext()
