# SPDX-License-Identifier: Apache-2.0
"""A paragraph or an entry of a list in Markdown has at most 500 characters, a cell of a table 160. A source's first sentence
says what the thing is: no fragment that opens with Of, What, Where and the like. A sentence of a comment has at most 30 words;
what is indented in a comment (formulas, tables) is none."""

import re

from tree import Finding

MOST_OF_PARAGRAPH = 500
MOST_OF_CELL = 160
MOST_OF_SENTENCE = 30
SOURCES = (".h", ".cuh", ".cc", ".cu")
# endings of files -> what a line of a comment begins with there
COMMENTED = {(".h", ".cc", ".cu", ".cuh", ".proto", ".go", ".js", ".ts"): re.compile(r"\s*//+(.*)"),
             (".py", ".sh", ".cmake", "CMakeLists.txt", ".yaml", ".textproto"): re.compile(r"\s*#+(.*)")}
FRAGMENT = re.compile(r"(Of|What|Whom|Where|How|Whether|Who|Which)\b")
ENTRY = re.compile(r"\s*([-*]|\d+\.) ")
# path, or a folder that ends with a slash -> why it is not held to this
EXEMPT = {}
LONG_SENTENCES = {
    "model/torch_cuda/conv_table.cc": "figures beside each row, no sentences",
    "proto/google/": "third-party protos",
    "proto/grpc/": "third-party protos",
}


def check(tree):
    for path in tree.paths:
        if path.startswith(tuple(p for p in EXEMPT if p.endswith("/"))) or path in EXEMPT:
            continue
        if path.endswith(".md"):
            yield from check_document(tree, path)
        elif path.endswith(SOURCES):
            yield from check_opening(tree, path)
    for endings, comment in COMMENTED.items():
        for path in tree.matching(*endings):
            if not path.startswith(tuple(LONG_SENTENCES)):
                yield from check_comments(tree, path, comment)


def check_document(tree, path):
    for start, text in paragraphs(tree.lines(path)):
        if text.startswith("|"):
            for cell in text.strip("|").split("|"):
                if len(cell.strip()) > MOST_OF_CELL:
                    yield Finding(path, start, f"a cell of {len(cell.strip())} characters; at most {MOST_OF_CELL}")
        elif len(text) > MOST_OF_PARAGRAPH:
            yield Finding(path, start, f"a paragraph of {len(text)} characters; at most {MOST_OF_PARAGRAPH}")


def paragraphs(lines):
    """(first line, text) of paragraphs, entries of lists and rows of tables; code and headings are none."""
    code, start, text = False, 0, ""
    for number, line in lines:
        fence = line.lstrip().startswith("```")
        ends = fence or code or not line.strip() or line.startswith(("#", "|")) or ENTRY.match(line)
        if ends and text:
            yield start, text
            text = ""
        code = code != fence
        if line.startswith("|") and not code:
            yield number, line
        elif not (fence or code or not line.strip() or line.startswith("#") or (not text and line.startswith("    "))):
            start, text = (start, f"{text} {line.strip()}") if text else (number, line.strip())
    if text:
        yield start, text


def check_opening(tree, path):
    for number, line in tree.lines(path):
        if not line.startswith("//"):
            return
        if "SPDX" not in line:
            if found := FRAGMENT.match(line.lstrip("/ ")):
                yield Finding(path, number, f"the first sentence opens with '{found.group(1)}'; it says what the thing is, as a noun or a full sentence")
            return


def check_comments(tree, path, comment):
    for start, text in comments(tree.lines(path), comment):
        for sentence in re.split(r"(?<=[.!?])\s+", text):
            if (count := len(sentence.split())) > MOST_OF_SENTENCE:
                yield Finding(path, start, f"a sentence of {count} words; at most {MOST_OF_SENTENCE}: {sentence[:60]} ...")


def comments(lines, comment):
    """(first line, text) of the paragraphs of comments that have lines of their own."""
    start, text = 0, ""
    for number, line in lines:
        found = comment.match(line)
        body = found[1] if found and "SPDX" not in line else ""
        item = re.match(r" [-*] ", body)
        if text and (item or not body.strip() or body.startswith("  ")):
            yield start, text
            text = ""
        if body.strip() and not body.startswith("  "):
            start, text = (start, f"{text}{body}") if text else (number, body.strip())
    if text:
        yield start, text


SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
LONG = "many a word, " * 40
CASES = [
    ("a long paragraph", {"a.md": f"# A\n\n{LONG}\n"}, 1),
    ("a long paragraph of short lines", {"a.md": "many words in a line\n" * 30}, 1),
    ("a long entry of a list", {"a.md": f"- short\n- {LONG}\n  {LONG}\n- short\n"}, 1),
    ("a list of short entries", {"a.md": "- many words in a line\n" * 30}, 0),
    ("short paragraphs", {"a.md": "many words in a line\n\n" * 30}, 0),
    ("code", {"a.md": f"```sh\n{LONG}\n```\n\n    {LONG}\n"}, 0),
    ("a paragraph behind code", {"a.md": f"```sh\nls\n```\n{LONG}\n"}, 1),
    ("a long cell", {"a.md": f"| a | b |\n|---|---|\n| c | {LONG[:170]} |\n"}, 1),
    ("a long row of short cells", {"a.md": f"{'| a cell of words ' * 60}|\n"}, 0),
    ("a fragment", {"a/a.h": SPDX + "// Whether a thing\n// is there.\n#pragma once\n", "a/a.cuh": SPDX + "// What it holds.\n"}, 2),
    ("a noun phrase", {"a/a.h": SPDX + "// The place of a thing. What it holds.\n#pragma once\n", "a/b.h": SPDX + "// Whatever.\n"}, 0),
    ("a long sentence of a comment", {"a/a.cc": f"// {'word ' * 20}\n// {'word ' * 20}\n", "a.py": f"# {'word ' * 31}\n"}, 2),
    ("short sentences of a comment", {"a/a.cc": f"// {'word ' * 29}word. {'word ' * 20}\nint a;\n// {'word ' * 20}\n"}, 0),
    ("a list in a comment", {"a/a.cc": f"// {'word ' * 20}:\n// - {'word ' * 20}\n// - {'word ' * 20}\n"}, 0),
    ("a formula in a comment", {"a/a.cc": f"// A thing:\n{'//   y = x + 1' * 20}\n"}, 0),
    ("a source", {"a/a.cc": SPDX + "// What it holds.\n", "a/a.cu": SPDX + "#include <a.h>\n"}, 1),
]
