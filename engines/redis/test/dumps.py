"""The payload of DUMP: its checksum, and damage to it."""

POLYNOMIAL = 0x95AC9329AC4BC9B5  # Reflected, as the server computes it.


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def checksum(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc


def sealed(body):
    """A payload with a right checksum: `body` ends with the two bytes of the version."""
    return body + checksum(body).to_bytes(8, "little")


def damaged(payload, random):
    """One damaged copy with a right checksum.

    Value type, type of the module and version of the format are left alone: they are read by the server, which takes
    other numbers for other types and formats.
    """
    body = bytearray(payload[:-8])
    first, end = 10, len(body) - 2
    kind = random.randrange(6)
    at = random.randrange(first, end)
    if kind == 0:
        body[at] ^= 1 << random.randrange(8)
    elif kind == 1:
        body[at] = (body[at] + random.randrange(1, 256)) % 256
    elif kind == 2:
        for _ in range(random.randrange(2, 9)):
            body[random.randrange(first, end)] = random.randrange(256)
    elif kind == 3:
        del body[at:min(end, at + random.randrange(1, 64))]
    elif kind == 4:
        body[at:at] = random.randbytes(random.randrange(1, 64))
    else:
        stop = min(end, at + random.randrange(1, 64))
        body[at:stop] = random.randbytes(stop - at)
    return sealed(bytes(body)) if bytes(body) != payload[:-8] else None
