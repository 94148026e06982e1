"""Entry of the worker: python3 bi_conform_worker.pyz MODULE [CALL [DEVICE]]; the socket is descriptor 3."""
import sys

if sys.version_info < (3, 9):
    sys.exit("python %d.%d is too old: a python: backend needs 3.9" % sys.version_info[:2])

from bi_conform_worker.serve import main  # noqa: E402: an old Python cannot read what it imports

main(sys.argv[1:])
