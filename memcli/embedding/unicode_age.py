"""Code points that the reference tokenizer's Unicode tables lack, or treat differently.

The tables of `tokenizers` have an early Unicode version, while Python's change with each release.
Token counts decide where segments end, so they must not change. Every Python therefore reads the
code points listed here as the reference does. `wordpiece` cuts words.
"""

from __future__ import annotations

from bisect import bisect_right

# Pairs of first code point and the one after the last. Inside, the reference leaves every
# character as it is, where Unicode 18 sees a mark, a control or punctuation. Found by
# putting each code point between two letters and comparing the ids.
# fmt: off
_KEPT = (
    0x5C8, 0x5CA, 0x61D, 0x61E, 0x7FD, 0x7FE, 0x890, 0x8E3, 0x9FD, 0x9FF, 0xA76, 0xA77,
    0xAFA, 0xB00, 0xB53, 0xB56, 0xC04, 0xC3D, 0xC77, 0xC78, 0xC84, 0xC85, 0xD00, 0xD01,
    0xD3B, 0xD3D, 0xD81, 0xD82, 0xEBA, 0xEBB, 0xECE, 0xECF, 0x180F, 0x1887, 0x1ABF, 0x1AF1,
    0x1B4E, 0x1B50, 0x1B7D, 0x1B80, 0x1DF6, 0x1DFC, 0x2E43, 0x2E64, 0xA82C, 0xA82D,
    0xA8C5, 0xA8C6, 0xA8FF, 0xA900, 0xA9BD, 0xA9BE, 0x10D24, 0x10F8A, 0x11070, 0x11075,
    0x110C2, 0x110CE, 0x111CF, 0x111D0, 0x1123E, 0x11242, 0x1133B, 0x1133C, 0x113BB, 0x1145F,
    0x11660, 0x1166D, 0x116B9, 0x116BA, 0x1182F, 0x12000, 0x12FF1, 0x16130, 0x16D6D, 0x16F50,
    0x16FE2, 0x16FE5, 0x1CF00, 0x1D129, 0x1D25B, 0x1D25D, 0x1E000, 0x1E6F6, 0x1E944, 0x1E960,
)
# fmt: on

# What has another category today than it had then.
_DROPPED_THEN = frozenset((0x1734, 0x1171E))
_PUNCTUATION_THEN = frozenset((0x166D, 0x111C9))


def reading(code: int) -> str | None:
    """Give how the reference folds `code`, or None where Python's tables agree with it."""
    if code in _DROPPED_THEN:
        return ""
    if code in _PUNCTUATION_THEN:
        return f" {chr(code)} "
    return chr(code) if bisect_right(_KEPT, code) % 2 else None
