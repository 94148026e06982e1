#!/usr/bin/env python3
"""signing_interop.py BUNDLE PUBLIC_KEY: what other people's programs say of an in-toto bundle.

Verifies each envelope with PyPI's securesystemslib and with the openssl command, and both again
after a change of one byte of payload, type and signature. Run by ci/securesystemslib. Exit code 0:
the envelopes hold in both, the changed ones in neither, and the key has their id.
"""
import base64
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey


def securesystemslib_accepts(envelope, key):
    try:
        return key.keyid in Envelope.from_dict(copy.deepcopy(envelope)).verify([key], 1)
    except VerificationError:
        return False


def openssl_accepts(envelope, path, ed25519):
    """openssl knows no envelopes: it gets the bytes that are signed, which are made here."""
    kind = envelope["payloadType"].encode()
    body = base64.b64decode(envelope["payload"])
    signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body)
    with tempfile.TemporaryDirectory() as folder:
        data, signature = pathlib.Path(folder, "signed"), pathlib.Path(folder, "signature")
        data.write_bytes(signed)
        signature.write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
        if ed25519:
            command = ["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", path, "-in", data,
                       "-sigfile", signature]
        else:
            command = ["dgst", "-sha256", "-verify", path, "-signature", signature, data]
        ran = subprocess.run(["openssl", *command], capture_output=True, check=False)
        return ran.returncode == 0


def changed(envelope):
    """The envelope with one byte changed in each of the parts that count."""
    def flip(text):
        data = bytearray(base64.b64decode(text))
        data[len(data) // 2] ^= 1
        return base64.b64encode(data).decode()

    for part in ("payload", "payloadType", "sig"):
        other = copy.deepcopy(envelope)
        if part == "payloadType":
            other[part] += "x"
        elif part == "payload":
            other[part] = flip(other[part])
        else:
            other["signatures"][0][part] = flip(other["signatures"][0][part])
        yield part, other


def main(bundle, path):
    key = SSlibKey.from_crypto(load_pem_public_key(pathlib.Path(path).read_bytes()))
    ed25519 = key.keytype == "ed25519"
    envelopes = [json.loads(line) for line in pathlib.Path(bundle).read_text().splitlines()]
    wrong = [] if envelopes else ["there is no envelope"]
    for envelope in envelopes:
        if envelope["signatures"][0]["keyid"] != key.keyid:
            wrong.append(f"the key's id is {key.keyid} there")
        if not securesystemslib_accepts(envelope, key):
            wrong.append("securesystemslib refuses the envelope")
        if not openssl_accepts(envelope, path, ed25519):
            wrong.append("openssl refuses the envelope")
        for part, other in changed(envelope):
            if securesystemslib_accepts(other, key):
                wrong.append(f"securesystemslib accepts another {part}")
            if openssl_accepts(other, path, ed25519):
                wrong.append(f"openssl accepts another {part}")
    print("\n".join(wrong) or f"{len(envelopes)} envelopes, keyid {key.keyid}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
