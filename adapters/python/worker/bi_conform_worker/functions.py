"""A module of plain functions: mm(a, b) and the like, called with NumPy arrays.

A module that imports torch gets torch's tensors instead.
"""
import inspect

from .call_text import parse_call

NO_KERNELS = "a model calls operators of torch's, for which the module registers no kernel"
UNKNOWN = "not declared by the module: sums in fp32 (fp64 for fp64), functions within 4 ulp"


def arithmetic(dtype, declared):
    """A manifest's entry: what the module declares, else what honest kernels do."""
    entry = {"accumulator": "fp64" if dtype == "fp64" else "fp32",
             "elementary_ulps": 4,
             "form": "",
             "flushes_subnormals": False,
             "source": UNKNOWN}
    if declared:
        entry.update({"source": "declared by the module's BI_CONFORM"}, **declared)
    return entry


def manifest_entry(op, dtypes, declared, own, stock_reason="", lacks=()):
    dtypes = [t for t in dtypes if t in declared.get("dtypes", dtypes)]
    by_dtype = declared.get("arithmetic", {})
    return {"op": op,
            "dtypes": dtypes,
            "arithmetic": {t: arithmetic(t, by_dtype.get(t)) for t in dtypes},
            "own": own,
            "stock_reason": stock_reason,
            "lacks": list(lacks)}


class Functions:
    def __init__(self, module, host):
        self._module, self._host = module, host
        self._declared = getattr(module, "BI_CONFORM", {})
        self._reached = []
        self.op = None  # the op of the problem at hand

    def manifest(self, ops):
        """The ops after which the module has named a function that one of its calls reaches."""
        return [manifest_entry(o["op"],
                               [t for t in o["dtypes"] if t in self._host.DTYPES],
                               self._declared.get(o["op"], {}),
                               [self._label(n) for n in (o["op"], o["op"] + "_")
                                if self._function(n)],
                               lacks=self._lacks(o["op"]))
                for o in ops if self._offers(o)]

    @staticmethod
    def absent(ops):
        """Why a model cannot be had."""
        return {o["op"]: NO_KERNELS for o in ops if "bic::" in "".join(o["calls"])}

    def _function(self, name):
        function = vars(self._module).get(name)
        return function if callable(function) else None

    def _lacks(self, op):
        """The form `out` needs a parameter of that name, `inplace` a function `op_`."""
        lacks = [] if takes(self._function(op), "out") else ["out"]
        return lacks if self._function(op + "_") else lacks + ["inplace"]

    def _offers(self, op):
        if not self._function(op["op"]):
            return False
        steps = [s for text in op["calls"] for s in parse_call(text)]
        return any(self._serves(s.base, op["op"]) for s in steps)

    @staticmethod
    def _serves(base, op):
        """Whether the function of that op computes the step of that name."""
        return base in (op, op + "_", "linalg_" + op)

    def _label(self, op):
        return f"{self._module.__name__}.{op}"

    def reached(self):
        return list(dict.fromkeys(self._reached))

    def forget(self):
        self._reached.clear()

    @staticmethod
    def writes(step):
        """Arguments that a step writes to: `out`, and the first one of an in-place call."""
        written = [step.named["out"]] if "out" in step.named else []
        return written + step.positional[:1] if step.base.endswith("_") else written

    def call(self, step, positional, named):
        if not self._serves(step.base, self.op):
            glue = self._host.glue(step)
            if glue is None:
                raise NotImplementedError(f"no '{step.base}' for {self._host.NAME} arrays")
            return glue(*positional, **named)
        name = self.op + "_" if step.base == self.op + "_" else self.op
        self._reached.append(self._label(name))
        return vars(self._module)[name](*positional, **named)


def takes(function, parameter):
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):  # a compiled function without a signature
        return False
