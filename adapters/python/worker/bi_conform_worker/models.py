"""Whole models: operators of bi-conform's own, made of ATen's, so that a module's kernels run in them."""
import ctypes
import pathlib
import sys

import torch

from .imported import one_line

LIBRARY = "libbic_models.so"


def load():
    """Registers the operators. Returns why it could not, in one line; else an empty text.

    Their library speaks to one torch alone, which a file beside it names: with another one it could
    not even be loaded safely.
    """
    library = pathlib.Path(sys.argv[0]).resolve().with_name(LIBRARY)
    note = library.with_suffix(".torch")
    if not (library.is_file() and note.is_file()):
        return f"bi-conform was built without {LIBRARY}"
    built, here = note.read_text().strip(), f"{torch.__version__} {torch.version.git_version}"
    if built != here:
        return f"models are built for torch {built}, and this is {here}"
    try:
        models = ctypes.CDLL(str(library))
        models.bic_models_torch.restype = models.bic_models_register.restype = ctypes.c_char_p
        if models.bic_models_torch().decode() != built:
            return f"{LIBRARY} is not the one that {note.name} lies beside"
        return models.bic_models_register().decode()
    except (OSError, AttributeError) as error:
        return f"{LIBRARY}: {one_line(error)}"
