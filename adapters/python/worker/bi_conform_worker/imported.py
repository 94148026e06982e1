"""Imports the module under test and starts what it is asked to start."""
import importlib
import importlib.util
import os
import sys

# Calls that need not be given, by module.
KNOWN_CALLS = {"batch_invariant_ops": "set_batch_invariant_mode"}


class UsageError(Exception):
    """One line for the person who named the module."""


class AfterTorch:
    """A finder that calls `then(torch)` as soon as somebody has imported torch."""

    def __init__(self, then):
        self._then = then

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is None:
            return None
        load = spec.loader.exec_module

        def load_and_tell(module):
            load(module)
            self._then(module)

        spec.loader.exec_module = load_and_tell
        return spec


def load_module(name):
    try:
        if not (name.endswith(".py") or os.sep in name):
            sys.path.insert(0, os.getcwd())
            return importlib.import_module(name)
        spec = importlib.util.spec_from_file_location(
            os.path.splitext(os.path.basename(name))[0], name)
        if spec is None:
            raise UsageError(f"'{name}' is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        sys.path.insert(0, os.path.dirname(os.path.abspath(name)))
        spec.loader.exec_module(module)
        return module
    except UsageError:
        raise
    except ModuleNotFoundError as error:
        raise UsageError(f"cannot import '{name}': {sys.executable} lacks '{error.name}'") from error
    except BaseException as error:  # a module may exit as well as raise
        raise UsageError(f"cannot import '{name}': {one_line(error)}") from error


def start(module, call):
    """Calls CALL and enters what it returns. Returns what must stay alive."""
    found = module
    for part in call.split("."):
        if not hasattr(found, part):
            raise UsageError(f"'{module.__name__}' has no '{call}'")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"'{call}' of '{module.__name__}' cannot be called")
    try:
        result = found()
        if hasattr(result, "__enter__"):
            result.__enter__()
        return result
    except BaseException as error:
        raise UsageError(f"'{call}' failed: {one_line(error)}") from error


def one_line(error):
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
