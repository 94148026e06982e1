"""A module that changes torch itself: kernels registered for the device, functions replaced."""
import functools

import torch

from . import models, torch_host
from .call_text import parse_call
from .functions import NO_KERNELS, manifest_entry, takes

# The one overload's name that a composite op always ends in.
LEAVES = {
    "conv1d": "convolution",
    "conv2d": "convolution",
    "softmax": "_softmax",
    "log_softmax": "_log_softmax",
    "log_softmax_fp32": "_log_softmax",
    "layer_norm": "native_layer_norm",
    "group_norm": "native_group_norm",
    "batch_norm": "native_batch_norm",
}
# Ops that are made of others, which one depending on rank and layout.
COMPOSITES = {"linear": ("mm", "addmm", "bmm"), "matmul": ("mm", "bmm", "mv", "dot")}
MODEL_REASON = "a model of ATen's operators: the module's run where it reaches them"
# Rounds between the product and the bias, as a rank-3 linear does that reaches bmm.
TWICE = {"form": "round-before-bias", "source": "a composite of bmm and an addition rounds twice"}


def _row(name, key):
    """The line of the operator's dispatch table that says who serves the key: "CPU", "CUDA"."""
    table = torch._C._dispatch_dump_table(name).splitlines()
    return next((line for line in table if line.startswith(key + ":")), "")


def _qualified(namespace, name):
    """"aten::mm.out" of what Library.impl is given; the default overload has no suffix."""
    if not isinstance(name, str):
        schema = name._schema
        name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
    name = name.rpartition("::")[2]
    return f"{namespace}::{name[:-8] if name.endswith('.default') else name}"


class Overrides:
    """Watches torch from its import on; `settle` says what the module changed."""

    def __init__(self, ops, key="CPU"):
        self._ops, self._key = ops, key
        self._reached, self._watched = [], set()
        self._rows = {name: _row(name, key) for name in self._overloads()}
        self._places = [torch, torch.nn.functional]
        self._attributes = [dict(vars(place)) for place in self._places]
        self._replaced, self._changed, self._declared = {}, set(), {}
        self._no_models = ""
        self.op = None
        self._watch()

    def _overloads(self):
        """Every overload of the names that the suite's calls and their leaves have."""
        names = {s.base for o in self._ops for t in o["calls"] for s in parse_call(t)}
        names |= set(LEAVES.values())
        return [f"aten::{name}" + ("" if overload == "default" else f".{overload}")
                for name in sorted(names) if hasattr(torch.ops.aten, name)
                for overload in getattr(torch.ops.aten, name).overloads()]

    def _brought(self):
        """Steps of operators that are not torch's: of ops that a user declared."""
        return [s for o in self._ops if not _is_model(o) for t in o["calls"] for s in parse_call(t)
                if not s.op.startswith("aten::")]

    def _watch(self):
        """Kernels registered from now on say when they run."""
        register = torch.library.Library.impl

        @functools.wraps(register)
        def impl(library, op_name, fn, *rest, **named):
            if fn is not torch.library.fallthrough_kernel:
                fn = self._recorded(fn, _qualified(library.ns, op_name))
            return register(library, op_name, fn, *rest, **named)

        torch.library.Library.impl = impl

    def _recorded(self, fn, label):
        self._watched.add(label)

        @functools.wraps(fn)
        def call(*args, **named):
            self._reached.append(label)
            return fn(*args, **named)

        return call

    def settle(self, module):
        """After activation: rows changed, functions replaced."""
        self._declared = getattr(module, "BI_CONFORM", {})
        self._changed = {name for name, row in self._rows.items() if _row(name, self._key) != row}
        self._changed |= {_overload(s) for s in self._brought() if _known_step(s)}
        names = {s.base for o in self._ops for t in o["calls"] for s in parse_call(t)}
        for place, before in zip(self._places, self._attributes):
            for name in names & set(vars(place)):
                if vars(place)[name] is not before.get(name):
                    label, function = f"{place.__name__}.{name}", vars(place)[name]
                    self._replaced[name] = label, self._recorded(function, label)
        return bool(self._changed or self._replaced)

    def manifest(self, ops):
        if any(map(_is_model, ops)):
            self._no_models = models.load() if self._changed else NO_KERNELS
        entries = (self._entry(o) for o in ops if _known(o["calls"]))
        return [e for e in entries if e is not None]

    def absent(self, ops):
        """Why a model cannot be had."""
        return {o["op"]: self._no_models for o in ops if _is_model(o) and self._no_models}

    def _entry(self, op):
        name, declared = op["op"], self._declared.get(op["op"], {})
        if _is_model(op):
            return manifest_entry(name, op["dtypes"], declared, [], MODEL_REASON)
        bases = {s.base for t in op["calls"] for s in parse_call(t)
                 if name in s.base or not s.op.startswith("aten::")}
        bases |= {LEAVES[name]} if name in LEAVES else set()
        own = [r for r in self._changed & self._watched if _base(r) in bases]
        own += [self._replaced[b][0] for b in bases & set(self._replaced)]
        if own:
            return manifest_entry(
                name, op["dtypes"], declared, sorted(own), lacks=self._lacks(own, bases))
        foreign = [r for r in self._changed - self._watched if _base(r) in bases]
        made_of = [r for r in sorted(self._changed) if _base(r) in COMPOSITES.get(name, ())]
        if foreign:
            reason = f"{foreign[0]} is registered from C++, whose calls this worker cannot see"
        elif made_of:
            reason = f"made of the module's {', '.join(made_of)}, where it reaches them"
        else:
            return None  # nothing of the module's: `--backend libtorch` judges stock
        entry = manifest_entry(name, op["dtypes"], declared, [], reason)
        for dtype in {"bf16", "fp16"} & set(entry["arithmetic"]) if name == "linear" else ():
            entry["arithmetic"][dtype].update(TWICE)
        return entry

    def _lacks(self, own, bases):
        """Forms that no override of the op's serves: stock would answer for the module."""
        takes_out = any(takes(self._replaced[b][1], "out") for b in bases & set(self._replaced))
        lacks = [] if takes_out or any(o.endswith("out") for o in own) else ["out"]
        return lacks if any(_base(o).endswith("_") for o in own) else lacks + ["inplace"]

    def reached(self):
        return list(dict.fromkeys(self._reached))

    def forget(self):
        self._reached.clear()

    @staticmethod
    def writes(step):
        """Arguments that the schema says are written to."""
        arguments = torch_host.overload(step)._schema.arguments
        written = {a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write}
        given = dict(zip((a.name for a in arguments), step.positional))
        given.update(step.named)
        return [value for name, value in given.items() if name in written]

    def call(self, step, positional, named):
        _, replaced = self._replaced.get(step.base, ("", None))
        return replaced(*positional, **named) if replaced else torch_host.call(
            step, positional, named)


def _is_model(op):
    """Whether bi-conform brings its operators."""
    return any(s.op.startswith("bic::") for text in op["calls"] for s in parse_call(text))


def _known(calls):
    """Whether this torch has every operator of the call texts."""
    return all(_known_step(s) for text in calls for s in parse_call(text))


def _known_step(step):
    try:
        return bool(torch_host.overload(step))
    except AttributeError:
        return False


def _overload(step):
    return step.op + (f".{step.overload}" if step.overload else "")


def _base(overload):
    return overload.partition("::")[2].partition(".")[0]
