"""Random damage to bytes and to model files."""

import json
import struct

#: Numbers at the borders of what types and algorithms can take.
FLOATS = [
    *(0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1 + 1e-12, 1e-300, 5e-324, 1e308, -1e308, 1e30),
    *(float("inf"), float("-inf"), float("nan")),
]
INTEGERS = [0, 1, 2, 3, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1]
#: The codes of :mod:`struct` for the types of arrays in model files.
CODES = {"F64": "d", "F32": "f", "U8": "B", "I32": "i", "U32": "I", "I64": "q", "U64": "Q"}


def damaged(draw, data, others=()):
    """Bytes with a few changes; pieces of ``others`` may be put into them."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        data = draw.choice(_CHANGES)(draw, data, others)
    return bytes(data)


def _flip_bit(draw, data, _):
    if data:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return data


def _set_byte(draw, data, _):
    if data:
        data[draw.randrange(len(data))] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
    return data


def _set_number(draw, data, _):
    code = draw.choice(list(CODES.values()))
    number = packed(code, _number(draw, code))
    if len(data) >= len(number):
        start = draw.randrange(len(data) - len(number) + 1)
        data[start : start + len(number)] = number
    return data


def _truncate(draw, data, _):
    return data[: draw.randrange(len(data) + 1)]


def _delete(draw, data, _):
    start, end = _slice(draw, data)
    return data[:start] + data[end:]


def _repeat(draw, data, _):
    start, end = _slice(draw, data)
    return data[:end] + data[start:]


def _splice(draw, data, others):
    source = draw.choice([*others, data])
    start, end = _slice(draw, source)
    at = draw.randrange(len(data) + 1)
    return data[:at] + bytearray(source[start:end]) + data[draw.choice((at, at + end - start)) :]


def _append(draw, data, _):
    return data + draw.randbytes(draw.randrange(1, 9))


_CHANGES = (
    _flip_bit,
    _flip_bit,
    _set_byte,
    _set_number,
    _truncate,
    _delete,
    _repeat,
    _splice,
    _append,
)


def _slice(draw, data):
    start = draw.randrange(len(data) + 1)
    return start, min(len(data), start + draw.choice((1, 4, 8, 32, 128)))


def packed(code, number):
    return struct.pack(f"<{code}", number)


def _number(draw, code):
    if code in "df":
        number = draw.choice(FLOATS)
        return float("inf") if code == "f" and number > 1e38 else max(number, -1e38)
    size = struct.calcsize(code) * 8
    signed = code.islower() and code != "B"
    number = draw.choice((*INTEGERS, draw.randrange(100))) % 2 ** (size - signed)
    return -number if signed and draw.random() < 0.3 else number


class ModelBytes:
    """A model file taken apart: the header, the document, and the bytes of each array."""

    def __init__(self, data):
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        self.data = data
        self.marks = header.pop("__metadata__")
        self.document = json.loads(self.marks["json"])
        self.entries = header
        self.start = 8 + length

    def edited(self, draw):
        """The file with valid structure, but other values in the document or in the arrays."""
        entries = {name: dict(entry) for name, entry in self.entries.items()}
        document = self.document
        body = bytearray(self.data[self.start :])
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            kind = draw.random()
            if kind < 0.6 and entries:
                self._edit_array(draw, draw.choice(list(entries.values())), body)
            elif kind < 0.85:
                document = edited_json(draw, document)
            elif entries:
                self._edit_entry(draw, entries)
        marks = self.marks | {"json": json.dumps(document)}
        if draw.random() < 0.02:
            marks = edited_json(draw, marks)
        header = json.dumps({"__metadata__": marks, **entries}).encode()
        return struct.pack("<Q", len(header)) + header + bytes(body)

    @staticmethod
    def _edit_array(draw, entry, body):
        match entry:
            case {"data_offsets": [int(start), int(end)], "dtype": str(dtype)} if dtype in CODES:
                code = CODES[dtype]
            case _:
                return
        size = struct.calcsize(code)
        length = (min(end, len(body)) - start) // size
        if length < 1 or start < 0:
            return
        for _ in range(draw.choice((1, 1, 2, length))):
            at = start + size * draw.randrange(length)
            if draw.random() < 0.5:
                body[at : at + size] = packed(code, _number(draw, code))
            else:
                other = start + size * draw.randrange(length)
                body[at : at + size] = body[other : other + size]

    @staticmethod
    def _edit_entry(draw, entries):
        name, other = draw.choices(list(entries), k=2)
        # What an earlier change has made of an entry may not be one.
        change = draw.randrange(5) if isinstance(entries[name], dict) else 0
        if change == 0:
            entries[name], entries[other] = entries[other], entries[name]
        elif change == 1:
            del entries[name]
        elif change == 2:
            entries[name]["shape"] = draw.choices(INTEGERS, k=2)
        elif change == 3:
            entries[name]["dtype"] = draw.choice([*CODES, "BOOL", "BF16"])
        else:
            entries[name] = edited_json(draw, entries[name])


def edited_json(draw, value, depth=0):
    """A JSON value with one other value at some place in it."""
    if isinstance(value, dict) and value and depth < 6 and draw.random() < 0.9:
        key = draw.choice(list(value))
        if draw.random() < 0.15:
            return {name: part for name, part in value.items() if name != key}
        return value | {key: edited_json(draw, value[key], depth + 1)}
    if isinstance(value, list) and value and depth < 6 and draw.random() < 0.8:
        at = draw.randrange(len(value))
        if draw.random() < 0.3:
            return value[:at] + value[at + draw.choice((1, 2)) :]
        return [*value[:at], edited_json(draw, value[at], depth + 1), *value[at + 1 :]]
    odd = [None, True, False, "", "x", "\x00", -1, 0, 1, 2**31, 2**64, 10**400, 0.5, 1e308]
    return draw.choice([*odd, [], {}, [[]], ["x"], {"x": 1}, [value], "S", "NP"])
