"""Answers the requests of bi-conform until it closes the socket."""
import importlib
import os
import platform
import sys

from . import imported
from .channel import Channel, map_memory
from .functions import Functions
from .trials import Trials
from .witness import mapped_libraries, set_poison

VERSION = 4
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MKL_CBWR",
             "ATEN_CPU_CAPABILITY", "OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES",
             "CUBLAS_WORKSPACE_CONFIG", "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES",
             "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE")


class Subject:
    """The module under test: what serves its calls, and in which host's tensors."""

    def __init__(self, name, call, device, ops):
        self.text, self.ops, self._device = ":".join(filter(None, (name, call))), ops, device
        call = call or imported.KNOWN_CALLS.get(name, "")
        watched = []
        watch = imported.AfterTorch(lambda _: watched.append(self._overrides()))
        sys.meta_path.insert(0, watch)
        self.module = imported.load_module(name)
        self.alive = imported.start(self.module, call) if call else None
        self.calls, self.host = self._choose(watched, call)

    def _overrides(self):
        key = self._device.partition(":")[0].upper()
        return importlib.import_module(".overrides", __package__).Overrides(self.ops, key)

    def _choose(self, watched, call):
        name = self.module.__name__
        host = _host("torch_host" if watched else "numpy_host")
        if watched:
            host.use(self._device)
        elif self._device != "cpu":
            raise imported.UsageError(f"'{name}' does not import torch: its arrays are NumPy's, "
                                      f"which has no device '{self._device}'")
        if watched and watched[0].settle(self.module):
            return watched[0], host
        if call:
            raise imported.UsageError(
                f"'{call}' of '{name}' changed no op of the suite on the device '{self._device}'")
        functions = Functions(self.module, host)
        if not functions.manifest(self.ops):
            raise imported.UsageError(
                f"'{name}' offers no function named as an op of the suite (mm, sum, …; "
                "bi-conform list) and registers none with torch")
        return functions, host

    def hello(self):
        fingerprint = {"python": platform.python_version(), "interpreter": sys.executable}
        fingerprint.update(self.host.fingerprint())
        fingerprint.update({v: os.environ[v] for v in VARIABLES if v in os.environ})
        source = getattr(self.module, "__file__", None)
        return {"version": VERSION,
                "backend": "python:" + self.text,
                "device": self.host.device_name(),
                "fingerprint": fingerprint,
                "libraries": ([os.path.abspath(source)] if source else []) + mapped_libraries(),
                "default_threads": len(os.sched_getaffinity(0)),
                "manifest": self.calls.manifest(self.ops),
                "absent": self.calls.absent(self.ops)}


def _host(name):
    try:
        return importlib.import_module("." + name, __package__)
    except ImportError as error:
        raise imported.UsageError(
            f"{sys.executable} ({platform.python_version()}) lacks what its tensors need: "
            f"{imported.one_line(error)}; install it there, or name another with --python"
        ) from error


class Server:
    def __init__(self, module, call="", device="cpu"):
        self._module, self._call, self._device = module, call, device
        self._subject, self._trials = None, None

    def answer(self, body, descriptors):
        verb = body["do"]
        if verb == "hello":
            self._subject = Subject(self._module, self._call, self._device, body["ops"])
            return self._subject.hello()
        if verb == "load":
            return self._load(body, descriptors)
        if verb == "run":
            return self._trials.run(body)
        if verb == "time":
            return self._trials.time(body)
        raise ValueError(f"unknown request '{verb}'")

    def _load(self, problem, descriptors):
        pool = map_memory(descriptors[0], problem["pool_bytes"])
        output = map_memory(descriptors[1], problem["output_bytes"])
        self._trials = Trials(self._subject, problem, pool, output)
        return {"loaded": True}


def main(arguments):
    if len(arguments) not in (1, 2, 3):
        sys.exit("bi_conform_worker: started by bi-conform, not by hand")
    set_poison(True)
    channel, server = Channel(), Server(*arguments)
    while True:
        message = channel.receive()
        if message is None:
            # At once: threads of the subject must not keep a worker alive.
            os._exit(0)
        try:
            reply = server.answer(*message)
        except imported.UsageError as error:
            reply = {"error": str(error)}
        except Exception as error:
            reply = {"error": imported.one_line(error)}
        channel.send(reply)
