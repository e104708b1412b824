#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Markdown tables and plots from the reports of kernel_bench and torch_rows.py.

    report.py --out FOLDER [--name kernels] [--plot REGEX] bench.json [torch.json ...]

Writes NAME.md and, where matplotlib is there, NAME_<dtype>.png: bars at each shape (of those that
match REGEX), as multiples of the copy of the same bytes. A time with a star was disturbed: its
median is more than 1.3 times its least sample.
"""

import argparse
import collections
import json
import pathlib
import re

Key = collections.namedtuple("Key", "op shape dtype cache")


def load(paths):
    """(metadata of each file, {key: {variant: row}}), in the order of the files."""
    metadata, table = [], {}
    for path in paths:
        report = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        metadata.append(report["metadata"])
        for row in report["rows"]:
            key = Key(row["op"], row["shape"], row["dtype"], row["cache"])
            table.setdefault(key, {})[row["variant"]] = row
    return metadata, table


def median(row):
    return row["microseconds"]["median"]


def disturbed(row):
    return median(row) > 1.3 * row["microseconds"]["min"]


def shown(row, digits):
    return f"{median(row):.{digits}f}" + ("*" if disturbed(row) else "")


def copy_of(rows):
    """The faster way to copy; disturbed ones only where there is no other."""
    copies = [row for row in rows.values() if row["kind"] == "copy"]
    copies = [median(row) for row in copies if not disturbed(row)] or list(map(median, copies))
    return min(copies) if copies else None


def bar_of(rows):
    """1.15 times the copy; for less than 16 MB the copy and 2 us."""
    copy = copy_of(rows)
    moved = next(row["bytes"] for row in rows.values() if row["kind"] == "copy")
    return copy + 2 if moved < 16e6 else 1.15 * copy


def cells_of(rows):
    ours = {name: row for name, row in rows.items() if row["kind"] == "reel"}
    best = min(ours, key=lambda name: (disturbed(ours[name]), median(ours[name])))
    copy = copy_of(rows)
    others = [f"{name} {shown(row, 1)}" for name, row in rows.items() if row["kind"] == "torch"]
    torch = [median(row) for row in rows.values() if row["kind"] == "torch"]
    gain = f"{min(torch) / median(ours[best]):.2f}" if torch else ""
    return [f"{copy:.2f}", best, shown(ours[best], 2), f"{median(ours[best]) / copy:.2f}",
            "yes" if median(ours[best]) <= bar_of(rows) else "no",
            f"{ours[best]['gb_per_s'] / 1000:.2f}",
            ", ".join(f"{name} {shown(row, 1)}" for name, row in ours.items() if name != best),
            ", ".join(others), gain]


HEAD = ["operator", "shape", "copy us", "best", "us", "x copy", "in bar", "TB/s", "other variants us",
        "PyTorch us", "PyTorch's best / ours"]


def tables(table):
    groups = collections.OrderedDict()
    for key, rows in table.items():
        if any(row["kind"] == "reel" for row in rows.values()):
            groups.setdefault((key.dtype, key.cache), []).append((key, rows))
    for (dtype, cache), entries in groups.items():
        yield f"\n## {dtype}, {cache} cache\n"
        yield "| " + " | ".join(HEAD) + " |"
        yield "|---|---|" + "---:|---|" + "---:|" * 2 + "---|---:|---|---|---:|"
        for key, rows in entries:
            yield "| " + " | ".join([key.op, key.shape] + cells_of(rows)) + " |"


def plot(table, dtype, pattern, path):
    """False where there is nothing to draw with."""
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("Agg")
        from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    except ImportError:
        return False
    entries = [(key, rows) for key, rows in table.items()
               if key.dtype == dtype and key.cache == "cold" and copy_of(rows)
               and re.search(pattern, f"{key.op} {key.shape}")]
    if not entries:
        return False
    labels = [f"{key.op} {key.shape}" for key, _ in entries]
    series = collections.OrderedDict()
    for i, (_, rows) in enumerate(entries):
        copy = copy_of(rows)
        ours = min(median(row) for row in rows.values() if row["kind"] == "reel")
        series.setdefault("Reel", {})[i] = ours / copy
        for name, row in rows.items():
            if row["kind"] == "torch":
                series.setdefault(f"PyTorch {name}", {})[i] = median(row) / copy
    figure, axes = pyplot.subplots(figsize=(11, 0.34 * len(entries) + 1.5))
    height = 0.8 / len(series)
    for n, (name, values) in enumerate(series.items()):
        axes.barh([i + n * height for i in values], [min(v, 8) for v in values.values()],
                  height=height, label=name)
    axes.axvline(1, color="black", linewidth=1)
    axes.axvline(1.15, color="black", linewidth=0.7, linestyle=":")
    axes.set_yticks([i + 0.4 - height / 2 for i in range(len(labels))], labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_ylim(len(entries), -0.5)
    axes.set_xlabel("time as a multiple of the copy of the same bytes (1.15: dotted; cut at 8), "
                    f"{dtype}, cold L2")
    axes.legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--name", default="kernels")
    parser.add_argument("--title", default="Kernels")
    parser.add_argument("--plot", default="", metavar="REGEX")
    parser.add_argument("reports", nargs="+")
    options = parser.parse_args()
    metadata, table = load(options.reports)
    options.out.mkdir(parents=True, exist_ok=True)
    lines = [f"# {options.title}", ""]
    for entry in metadata:
        lines.append("- " + ", ".join(f"{name} {value}" for name, value in entry.items() if value))
    lines += tables(table)
    for dtype in sorted({key.dtype for key in table}):
        picture = f"{options.name}_{dtype}.png"
        if plot(table, dtype, options.plot, options.out / picture):
            lines += ["", f"![{dtype}]({picture})"]
    (options.out / f"{options.name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
