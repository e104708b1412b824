# SPDX-License-Identifier: Apache-2.0
"""What callers and configurations set is read where it has to count: each field of the configuration's message and each member
of the structs that carry values on is named there, otherwise than to be set. That what was read has an effect is held by the
tests `EveryField`."""

import re
from typing import NamedTuple

from tree import Finding


class Row(NamedTuple):
    source: str  # a header or a proto
    readers: tuple  # folders
    but: tuple = ()  # folders in them that only carry it
    structs: tuple = ()  # all of the source, or these


ROWS = (
    Row("proto/reel/config/v1/config.proto", ("server/front/",), but=("server/front/config/",)),
    Row("model/load_options.h", ("model/", "server/worker/engine/")),
    Row("model/generation_spec.h",
        ("model/ltx/", "model/ltx2/", "model/family/", "server/worker/", "server/front/jobs/")),
    Row("server/front/jobs/job_service.h", ("server/front/jobs/", "server/front/node/"), structs=("NewJob", "ListQuery")),
)
# Member -> why nobody has to read it
EXEMPT = {
    "EncodingOptions::codec": "H.264 is the only one, and another is refused where the message is read",
    "Condition::content_type": "the decoder looks at the bytes; a wrong one is refused where the message is read",
    "Condition::sha256": "names the bytes for people; a wrong one is refused where the message is read",
    "ConditionPixels::is_cut": "RefinementNotices tells it",
    "ConditionSound::is_cut": "OwnSoundNotice tells it",
    "Condition::use": "is_refined and is_reference ask it",
    "GenerationSpec::condition_crf": "no family takes compressed pictures yet, and a request that sets it is refused",
    "ServerConfig::insecure_listen": "permits a listener; the configuration's checks are all that asks",
    "Fleet::insecure": "likewise",
    "Objects::insecure": "likewise",
    "Nats::insecure": "likewise",
    "Fleet::encrypt_prompts_key_file": "load_config.cc reads the keys that are in it",
    "Tls::client_ca_file": "TlsOptionsOf carries it to the listeners",
    "Data::experimental_log": "has no effect any more, which a warning says",
    "Telemetry::log_prompts": "refused",
    "ServerConfig::adapter_root": "named_parts.cc puts real paths in the place of the adapters' files",
    "Adapter::max_scale": "bounds the scales that models name; the configuration's checks are all that asks",
}
MESSAGE = re.compile(r"^message (\w+) \{$(.*?)^\}$", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^ +(?:optional |repeated )?(?:[\w.]+|map<.+?>) ((\w+)) = \d+", re.MULTILINE)
STRUCT = re.compile(r"^struct (\w+) \{$(.*?)^\};$", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"^  (?!friend|using|static|//|bool enabled|int num_steps|enum)[\w:<>,& ]+?[ >&](\w+(?:(?: = [^;,(]+| = \{\})?, \w+)*)"
                    r"(?: = [^;]+| = \{\})?;", re.MULTILINE)


def members(path, text, wanted):
    """(struct, member) of plain members, also of "int a = 0, b = 0;"; of a proto, of messages' fields."""
    structs, member = (MESSAGE, FIELD) if path.endswith(".proto") else (STRUCT, MEMBER)
    for struct in structs.finditer(text):
        if wanted and struct[1] not in wanted:
            continue
        for match in member.finditer(struct[2]):
            line = text.count("\n", 0, struct.start(2) + match.start()) + 1
            for name in re.sub(r" = [^,]+", "", match[1]).split(", "):
                yield struct[1], name, line


def check(tree):
    for row in ROWS:
        if not tree.has(row.source):
            continue
        # Also "x.member ==", but not "x.member =" nor ".member = " of an initialiser; of a message, its accessors that read.
        uses = r"(?:\.|->)(?:has_)?(\w+?)(?:_size)?\(" if row.source.endswith(".proto") else r"(?:\.|->)(\w+)\b(?! = )"
        read = set()
        for path in tree.matching(".cc", ".h"):
            if path == row.source or not path.startswith(row.readers) or path.startswith(row.but or ("\0",)):
                continue
            read.update(re.findall(uses, tree.text(path)))
        for struct, name, line in members(row.source, tree.text(row.source), row.structs):
            if name not in read and f"{struct}::{name}" not in EXEMPT:
                yield Finding(row.source, line, f"nobody in {', '.join(row.readers)} reads {struct}::{name}")


HEADER = "struct LoadOptions {\n  absl::Duration drain, heartbeat;\n  int share = 3;\n};\n"
PROTO = """message Timing {
  // One.
  google.protobuf.Duration drain = 1 [(rule).default_value = "30s"];
  oneof source {
    string path = 2;
  }
  repeated Part parts = 3;
  optional bool off = 4;
  map<string, string> names = 5;
}
"""
CASES = [
    ("accepted and ignored", {"model/load_options.h": HEADER, "model/a.cc": "a.drain; o.timing.heartbeat"}, 1),
    ("set is not read", {"model/load_options.h": HEADER,
                         "model/a.cc": "a.drain; o->heartbeat; o.share = 4; {.share = 2}"}, 1),
    ("good", {"model/load_options.h": HEADER, "model/a.cc": "a.drain; o.timing.heartbeat; if (b.share == 3)"}, 0),
    ("fields", {"proto/reel/config/v1/config.proto": PROTO,
                "server/front/app.cc": "t.drain(); t.path(); t->parts_size(); t.has_off(); t.names()"}, 0),
    ("a field that nobody reads", {"proto/reel/config/v1/config.proto": PROTO,
                                   "server/front/app.cc": "t.set_drain(1); t.parts(0); t.off(); t.names()"}, 2),
    ("the configuration itself does not count", {"proto/reel/config/v1/config.proto": PROTO,
                                                 "server/front/config/a.cc": "t.drain(); t.path(); t.parts(); t.off(); t.names()"}, 5),
]
