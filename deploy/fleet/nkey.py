# SPDX-License-Identifier: Apache-2.0
"""NATS's names for Ed25519 keys of users: a seed, which is the secret, and the public key that a broker knows it by."""

import base64
import binascii
import os
import subprocess

SEED, USER = 18 << 3, 20 << 3
# What stands before the 32 bytes of an Ed25519 key in PKCS #8.
PRIVATE_KEY = bytes.fromhex("302e020100300506032b657004220420")
KEY_BYTES = 32


def with_sum(data):
    text = data + binascii.crc_hqx(data, 0).to_bytes(2, "little")
    return base64.b32encode(text).rstrip(b"=").decode()


def make_seed():
    """ "SU..." of a new key of a user."""
    return with_sum(bytes([SEED | USER >> 5, (USER & 31) << 3]) + os.urandom(KEY_BYTES))


def private_key(seed):
    """The key of a seed as openssl reads it, in DER. ValueError: it is no seed of a user."""
    data = base64.b32decode(seed + "=" * (-len(seed) % 8))
    if with_sum(data[:-2]) != seed or not seed.startswith("SU") or len(data) != 2 + KEY_BYTES + 2:
        raise ValueError("no seed of a user's key")
    return PRIVATE_KEY + data[2:-2]


def public_key(seed):
    """ "U..." of a seed."""
    answer = subprocess.run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input=private_key(seed),
                            capture_output=True, check=True)
    return with_sum(bytes([USER]) + answer.stdout[-KEY_BYTES:])
