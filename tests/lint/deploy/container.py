#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Dockerfile keeps its rules, and the image gets exactly the packages that the built binaries need.

Nothing is built here: that needs a Docker daemon, which test machines rarely have (tests/lint/README.md).
"""

import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tools import ROOT, SKIPPED, run  # noqa: E402

BINARIES = ("reeld", "reel-worker", "reel", "reel-render", "reel-frames")
# In every Debian image: glibc and GCC's run time.
BASE = {"libc6", "libgcc-s1", "libstdc++6"}
# Without code: what https to a store or a collector is checked against, unless a configuration names others.
FILES = {"ca-certificates"}
PACKAGES = ROOT / "deploy/container/runtime-packages.txt"


def instructions(text):
    """(name, arguments) with continued lines joined and comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(line.split(None, 1)[0].upper(), line.split(None, 1)[1]) for line in joined.splitlines() if line.strip()]


def stages_of(steps):
    """By name, what each stage is made of, behind all of the stage that it stands on; one without a name is "final"."""
    stages, below, name = {}, {}, None
    for step in steps:
        if step[0] == "FROM":
            base, _, name = step[1].partition(" AS ")
            name = name or "final"
            below[name], stages[name] = base, []
        if name is not None:
            stages[name].append(step)
    for name, own in stages.items():
        if below[name] in stages:
            stages[name] = stages[below[name]] + own[1:]
    return stages


def bases(steps):
    """Of each stage that does not stand on another: with its default for an argument in its place."""
    arguments = dict(value.split("=", 1) for name, value in steps if name == "ARG" and "=" in value)
    named = {value.partition(" AS ")[2] for name, value in steps if name == "FROM"}
    for name, value in steps:
        base = value.partition(" AS ")[0]
        if name == "FROM" and base not in named:
            yield re.sub(r"\$\{(\w+)\}", lambda match: arguments.get(match[1], ""), base)


def broken_rules(text):
    steps = instructions(text)
    stages = stages_of(steps)
    final = stages["final"]
    last = {name: arguments for name, arguments in final}
    rules = {
        "more than one stage": len(stages) > 1,
        "no base image without a version": all(re.match(r"[\w./-]+:(?!latest\b)[\w.-]+", base) for base in bases(steps)),
        "the final stage is slim": any(base.startswith("debian:12-slim") for base in list(bases(steps))[-1:]),
        "no SHELL, which OCI images do not have": all(name != "SHELL" for name, _ in steps),
        "it says of which revision it is": "org.opencontainers.image.revision" in last.get("LABEL", ""),
        "it carries the list of what is in it": any("--from=papers" in a for n, a in final if n == "COPY"),
        "a numeric user that is not root": re.fullmatch(r"([1-9]\d{3,}):\1", last.get("USER", "")) is not None,
        "nothing is done as root after USER": [name for name, _ in final].index("USER") > max(
            [i for i, (name, _) in enumerate(final) if name in ("RUN", "COPY", "ADD")]) if "USER" in last else False,
        "the data folder is a volume": last.get("VOLUME") == '["/var/lib/reel"]',
        "both ports": last.get("EXPOSE", "").split() == ["50051", "9464"],
        "reeld with its file, without a shell": last.get("ENTRYPOINT") ==
            '["/usr/bin/reeld", "--config", "/etc/reel/reel.textproto"]',
        "probes are Kubernetes' business": last.get("HEALTHCHECK") == "NONE",
        "no recommended packages": all("--no-install-recommends" in a for n, a in final if n == "RUN" and "apt-get install" in a),
        "no package lists left behind": all("rm -rf /var/lib/apt/lists/*" in a for n, a in steps if n == "RUN" and "apt-get" in a),
        "no ADD": all(name != "ADD" for name, _ in steps),
        "no secrets in arguments": not re.search(r"(?i)(password|token|secret)\s*=", text),
    }
    return [name for name, holds in rules.items() if not holds]


def bundled_libraries(folder):
    """Those of .deps that the binaries load, by themselves or through another: the image must copy each."""
    bundled = set()
    for binary in BINARIES:
        for library, place in re.findall(r"(\S+) => (\S+)", run("ldd", folder / binary).stdout):
            if "/.deps/" in place or os.path.realpath(place).startswith(f"{os.path.realpath(ROOT / '.deps')}/"):
                bundled.add(library)
    return bundled


def needed_packages(folder, bundled):
    """By package, the libraries that the dynamic sections of the binaries name."""
    packages = {}
    for binary in BINARIES:
        program = folder / binary
        needed = re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", program).stdout)
        places = dict(re.findall(r"(\S+) => (\S+)", run("ldd", program).stdout))
        for library in needed:
            if library.startswith("ld-linux") or library in bundled:
                continue
            place = os.path.realpath(places.get(library, library))
            found = run("dpkg", "-S", place).stdout or run("dpkg", "-S", place.removeprefix("/usr")).stdout
            packages.setdefault(found.partition(":")[0] or f"? {library}", set()).add(library)
    return packages


def compare_packages(folder):
    bundled = bundled_libraries(folder)
    installed = set(re.findall(r"lib[\w.+-]+\.so[\w.]*", (ROOT / "deploy/build/cmake/install.cmake").read_text(encoding="utf-8")))
    for library in sorted(bundled - installed):
        yield f"{library} is loaded from .deps, and deploy/build/cmake/install.cmake does not install it"
    listed = {line for line in PACKAGES.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}
    needed = {name: libraries for name, libraries in needed_packages(folder, bundled).items() if name not in BASE}
    for name in sorted(needed.keys() - listed):
        yield f"{name} is needed for {', '.join(sorted(needed[name]))} and not listed"
    for name in sorted(FILES - listed):
        yield f"{name} is not listed"
    for name in sorted(listed - needed.keys() - FILES):
        yield f"{name} is listed and not needed"


def main():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    problems = [f"Dockerfile:1: rule: {broken}" for broken in broken_rules(text)]
    damaged = re.sub(r"USER .*|HEALTHCHECK .*|LABEL ", "", text).replace("debian:12-slim", "debian:latest").replace("EXPOSE 50051", "EXPOSE")
    if len(broken_rules(damaged)) < 7:
        problems.append("Dockerfile:1: self-test: a damaged file is accepted")
    folder = pathlib.Path(os.environ.get("REEL_BIN", ROOT / "build/release/bin"))
    absent = [binary for binary in BINARIES if not (folder / binary).is_file()]
    absent += [tool for tool in ("dpkg", "readelf", "ldd") if not shutil.which(tool)]
    if not absent:
        problems += [f"{PACKAGES.relative_to(ROOT)}:1: {problem}" for problem in compare_packages(folder)]
    print("\n".join(problems))
    if problems:
        return 1
    if absent:
        print(f"SKIPPED: the packages are not compared; absent: {', '.join(absent)}; looked in {folder}")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
