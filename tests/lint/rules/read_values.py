# SPDX-License-Identifier: Apache-2.0
"""What callers and configurations set is read where it has to count: each member of the structs that carry it on is named
there, otherwise than to be set. That messages fill those structs is held by the tests `EveryField`."""

import re
from typing import NamedTuple

from tree import Finding


class Row(NamedTuple):
    header: str
    readers: tuple  # folders
    but: tuple = ()  # folders in them that only carry it
    structs: tuple = ()  # all of the header, or these


ROWS = (
    Row("server/front/config/server_options.h", ("server/front/",), but=("server/front/config/",)),
    Row("model/load_options.h", ("model/", "server/worker/engine/")),
    Row("model/generation_spec.h", ("model/ltx/", "model/ltx2/", "server/worker/", "server/front/jobs/")),
    Row("server/front/jobs/job_service.h", ("server/front/jobs/",), structs=("NewJob", "ListQuery")),
)
# Member -> why nobody has to read it
EXEMPT = {
    "EncodingOptions::codec": "H.264 is the only one, and another is refused where the message is read",
    "Condition::content_type": "the decoder looks at the bytes; a wrong one is refused where the message is read",
    "Condition::sha256": "names the bytes for people; a wrong one is refused where the message is read",
    "GenerationSpec::condition_crf": "no family takes compressed pictures yet, and a request that sets it is refused",
    "CheckedOptions::problems": "of the configuration's own",
    "CheckedOptions::options": "of the configuration's own",
}
STRUCT = re.compile(r"^struct (\w+) \{$(.*?)^\};$", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"^  (?!friend|using|static|//|bool enabled|int num_steps|enum)[\w:<>,& ]+?[ >&](\w+(?:(?: = [^;,(]+| = \{\})?, \w+)*)"
                    r"(?: = [^;]+| = \{\})?;", re.MULTILINE)


def members(text, wanted):
    """(struct, member) of plain members, also of "int a = 0, b = 0;"."""
    for struct in STRUCT.finditer(text):
        if wanted and struct[1] not in wanted:
            continue
        for match in MEMBER.finditer(struct[2]):
            line = text.count("\n", 0, struct.start(2) + match.start()) + 1
            for name in re.sub(r" = [^,]+", "", match[1]).split(", "):
                yield struct[1], name, line


def check(tree):
    for row in ROWS:
        if not tree.has(row.header):
            continue
        read = set()
        for path in tree.matching(".cc", ".h"):
            if path == row.header or not path.startswith(row.readers) or path.startswith(row.but or ("\0",)):
                continue
            # Also "x.member ==", but not "x.member =" nor ".member = " of an initialiser.
            read.update(re.findall(r"(?:\.|->)(\w+)\b(?! = )", tree.text(path)))
        for struct, name, line in members(tree.text(row.header), row.structs):
            if name not in read and f"{struct}::{name}" not in EXEMPT:
                yield Finding(row.header, line, f"nobody in {', '.join(row.readers)} reads {struct}::{name}")


HEADER = "struct TimingOptions {\n  absl::Duration drain, heartbeat;\n  int share = 3;\n};\n"
CASES = [
    ("accepted and ignored", {"server/front/config/server_options.h": HEADER,
                              "server/front/app.cc": "a.drain; o.timing.heartbeat"}, 1),
    ("set is not read", {"server/front/config/server_options.h": HEADER,
                         "server/front/app.cc": "a.drain; o->heartbeat; o.share = 4; {.share = 2}"}, 1),
    ("the configuration itself does not count", {"server/front/config/server_options.h": HEADER,
                                                 "server/front/config/a.cc": "a.drain + a.heartbeat + a.share"}, 3),
    ("good", {"server/front/config/server_options.h": HEADER,
              "server/front/app.cc": "a.drain; o.timing.heartbeat; if (b.share == 3)"}, 0),
]
