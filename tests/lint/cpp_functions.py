# SPDX-License-Identifier: Apache-2.0
"""Finds function bodies in C++ by their braces: enough for size limits, without a compiler."""

import re
from typing import NamedTuple


class Function(NamedTuple):
    name: str
    line: int
    lines: int  # first line of the signature to the closing brace
    parameters: int
    is_kernel: bool
    on_device: bool


LITERALS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
    r"|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", re.DOTALL | re.MULTILINE)
NOT_FUNCTION = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b(?![^{]*\)\s*(?:const|noexcept|override|final|->.*)*\s*$)")
INITIALISERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)\s*\w")


def blank(text):
    """Comments, literals and preprocessor lines as spaces, line ends kept."""
    return LITERALS.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def functions(text):
    code = blank(text)
    found, start, i = [], 0, 0
    while i < len(code):
        char = code[i]
        if char in ";}":
            start = i + 1
        elif char == "{":
            head = code[start:i]
            if is_scope(head):
                start = i + 1
            else:
                end = matching_brace(code, i)
                if is_member_initialiser(head, code[end + 1:end + 40]):
                    i = end + 1
                    continue
                if "(" in head and not re.search(r"(?<![=!<>])=\s*$", head.rstrip()) and not is_variable(head):
                    found.append(describe(code, head, start, end))
                start = end + 1
                i = end
        i += 1
    return found


def is_scope(head):
    return bool(NOT_FUNCTION.search(head)) and not re.search(r"=\s*$", head)


def is_member_initialiser(head, rest):
    """`: a_{x}, b_(y) {`: this brace belongs to a member, the body comes later."""
    if not INITIALISERS.search(head):
        return False
    return bool(re.search(r"[\w>]\s*$", head)) and bool(re.match(r"\s*(?:,|\{|\.\.\.)", rest))


def is_variable(head):
    """`Type name[] = ...` with a call inside an initialiser list further left."""
    before = head.split("(", 1)[0]
    return "=" in before and "operator" not in before


def matching_brace(code, start):
    depth = 0
    for i in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[i], 0)
        if depth == 0:
            return i
    return len(code) - 1


def describe(code, head, start, end):
    first = start + len(head) - len(head.lstrip())
    signature = head.strip()
    signature = re.sub(r"^(?:(?:public|private|protected)\s*:\s*)+", "", signature)
    signature = re.sub(r"\b(?:ABSL|REEL)_[A-Z_]+\([^()]*\)", "", signature)
    opening = signature.find("(", signature.find("operator()") + 10 if "operator()" in signature else 0)
    name = re.search(r"([\w:~]+|operator\S+)\s*$", signature[:opening])
    parameters = parameter_count(signature[opening:])
    line = code.count("\n", 0, first) + 1
    return Function(name[1] if name else "?", line, code.count("\n", first, end) + 1, parameters, "__global__" in signature,
                    "__device__" in signature)


def parameter_count(text):
    depth, count, seen = 0, 0, False
    for char in text:
        if char in "([<{":
            depth += 1
        elif char in ")]>}":
            depth -= 1
            if depth == 0:
                break
        elif char == "," and depth == 1:
            count += 1
        elif not char.isspace():
            seen = True
    return count + 1 if seen else 0
