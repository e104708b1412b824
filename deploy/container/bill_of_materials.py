#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists what an image holds: sbom.spdx.json (SPDX 2.3), and SOURCES.md, where the sources of it all are.

  bill_of_materials.py --packages /var/lib/dpkg/status --installed FOLDER --revision REVISION --out FOLDER

Debian's packages are read from dpkg's list, libraries of wheels from the names in FOLDER/lib/reel, by the versions in
deploy/build/versions.env. No library of Python's is used: the Dockerfile runs it in a bare Debian.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import re
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A library of lib/reel, by the start of its name: the wheel that brings it, its version in versions.env, its licence. CUDA's
# libraries come as torch's wheel asks for them.
WHEELS = [
    (r"lib(torch|c10|gomp)", "torch", "TORCH_VERSION", "BSD-3-Clause"),
    (r"libcudart", "nvidia-cuda-runtime", "CUDA_RUNTIME_VERSION", "LicenseRef-NVIDIA-CUDA"),
    (r"libcupti", "nvidia-cuda-cupti", "CUDA_CUPTI_VERSION", "LicenseRef-NVIDIA-CUDA"),
    (r"libcudnn", "nvidia-cudnn-cu13", None, "LicenseRef-NVIDIA-cuDNN"),
    (r"libcublas", "nvidia-cublas", None, "LicenseRef-NVIDIA-CUDA"),
    (r"libcufft", "nvidia-cufft", None, "LicenseRef-NVIDIA-CUDA"),
    (r"libcurand", "nvidia-curand", None, "LicenseRef-NVIDIA-CUDA"),
    (r"libcusparseLt", "nvidia-cusparselt-cu13", None, "LicenseRef-NVIDIA-CUDA"),
    (r"libcusparse", "nvidia-cusparse", None, "LicenseRef-NVIDIA-CUDA"),
    (r"libcufile", "nvidia-cufile", None, "LicenseRef-NVIDIA-CUDA"),
    (r"libnvJitLink", "nvidia-nvjitlink", None, "LicenseRef-NVIDIA-CUDA"),
    (r"libnvrtc", "nvidia-cuda-nvrtc", None, "LicenseRef-NVIDIA-CUDA"),
    (r"libnccl", "nvidia-nccl-cu13", None, "BSD-3-Clause"),
    (r"libnvshmem", "nvidia-nvshmem-cu13", None, "LicenseRef-NVIDIA-CUDA"),
]
LICENSES = {
    "LicenseRef-NVIDIA-CUDA": "NVIDIA's licence of the CUDA toolkit: https://docs.nvidia.com/cuda/eula/",
    "LicenseRef-NVIDIA-cuDNN": "NVIDIA's licence of cuDNN: https://docs.nvidia.com/deeplearning/cudnn/",
}
# Of these the image is GPL as a whole; all others are named as well.
COPYLEFT = {"x264", "ffmpeg"}


def debian_packages(status):
    """(name, version, source, version of the source) of each installed package."""
    for paragraph in status.split("\n\n"):
        fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", paragraph, re.MULTILINE))
        if not fields.get("Status", "").endswith(" installed"):
            continue
        source, _, version = fields.get("Source", fields["Package"]).partition(" ")
        yield fields["Package"], fields["Version"], source, version.strip("()") or fields["Version"], fields["Architecture"]


def pinned_versions():
    text = (ROOT / "deploy/build/versions.env").read_text(encoding="utf-8")
    return dict(re.findall(r"^(\w+)=(\S+)", text, re.MULTILINE))


def wheel_versions():
    """Of wheels that are installed here; those that versions.env does not pin are as torch asks for them."""
    found = {}
    for place in ROOT.glob(".deps/venv/lib/python3*/site-packages/*.dist-info"):
        name, _, version = place.name.removesuffix(".dist-info").rpartition("-")
        found[name.lower().replace("_", "-")] = version
    return found


def wheels(installed):
    """(name, version, licence) of each wheel that a library of lib/reel is of; a library of none stops it all."""
    pinned, here, found = pinned_versions(), wheel_versions(), {}
    for library in sorted(path.name for path in (installed / "lib/reel").glob("*.so*")):
        entry = next((entry for entry in WHEELS if re.match(entry[0], library)), None)
        if entry is None:
            sys.exit(f"{library}: it is not known of which wheel it is")
        _, name, variable, licence = entry
        version = pinned.get(variable) or here.get(name)
        if version is None:
            sys.exit(f"{library}: the version of {name} is not known")
        found[name] = (version, licence)
    return [(name, version, licence) for name, (version, licence) in sorted(found.items())]


def reel_version():
    return re.search(r"project\(reel VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def package(name, version, licence, purl, **more):
    identity = re.sub(r"[^A-Za-z0-9.-]", "-", f"SPDXRef-{name}-{version}")
    return {"SPDXID": identity, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}], **more}


def spdx(debian, from_wheels, revision):
    own = package("reel", reel_version(), "Apache-2.0", f"pkg:generic/reel@{reel_version()}", sourceInfo=f"revision {revision}",
                  primaryPackagePurpose="CONTAINER")
    others = [package(name, version, "NOASSERTION", f"pkg:deb/debian/{name}@{version}?arch={architecture}&distro=debian-12",
                      sourceInfo=f"built from {source} {of}") for name, version, source, of, architecture in debian]
    others += [package(name, version, licence, f"pkg:pypi/{name}@{version}") for name, version, licence in from_wheels]
    used = {licence for _, _, licence in from_wheels} & LICENSES.keys()
    # The same image has the same name: what it is made of, no random number.
    content = "\n".join(sorted(p["SPDXID"] for p in others) + [revision])
    identity = uuid.UUID(hashlib.sha256(content.encode()).hexdigest()[:32])
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"reel-{reel_version()}",
        "documentNamespace": f"urn:uuid:{identity}",
        "creationInfo": {"created": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: reel-bill_of_materials"]},
        "packages": [own, *others],
        "hasExtractedLicensingInfos": [{"licenseId": name, "extractedText": LICENSES[name]} for name in sorted(used)],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}] +
                         [{"spdxElementId": own["SPDXID"], "relationshipType": "CONTAINS", "relatedSpdxElement": p["SPDXID"]} for p in others],
    }


def sources(debian, revision):
    by_source = sorted({(source, of) for _, _, source, of, _ in debian})
    gpl = [f"{name} {version}" for name, version in by_source if name in COPYLEFT]
    lines = [
        "# Where the sources of this image are", "",
        f"Reel {reel_version()}, revision {revision}, is under Apache-2.0. The image carries {' and '.join(gpl)} and is therefore under the GNU",
        "General Public License, version 2 or later, as a whole.", "",
        "Whoever gives this image to others owes them the corresponding sources. For at least three years from the day on which you",
        "received it, whoever gave it to you will, on request and for no more than the cost of doing so, give you a complete",
        "machine-readable copy of the sources of every package below (GPL-2.0, section 3b). They are also where Debian keeps each",
        "version for good, and are unpacked and built by Debian's own tools:", "",
        "    apt-get source PACKAGE=VERSION", "", "| package | version | kept at |", "|---|---|---|"]
    lines += [f"| {name} | {version} | https://snapshot.debian.org/package/{name}/{version}/ |" for name, version in by_source]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=pathlib.Path, required=True)
    parser.add_argument("--installed", type=pathlib.Path, required=True)
    parser.add_argument("--revision", default="unknown")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    debian = sorted(debian_packages(args.packages.read_text(encoding="utf-8")))
    missing = COPYLEFT - {source for _, _, source, _, _ in debian}
    if missing:
        sys.exit(f"{args.packages} knows nothing of {', '.join(sorted(missing))}: is it the image's?")
    args.out.mkdir(parents=True, exist_ok=True)
    document = spdx(debian, wheels(args.installed), args.revision)
    (args.out / "sbom.spdx.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    (args.out / "SOURCES.md").write_text(sources(debian, args.revision), encoding="utf-8")


if __name__ == "__main__":
    main()
