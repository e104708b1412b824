#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Markdown tables and plots from the reports of kernel_bench and torch_rows.py.

    report.py --out FOLDER [--name kernels] [--dtypes bf16 ...] [--sizes SIZE ...] [--plot REGEX] bench.json [torch.json ...]

Writes NAME.md with tables of the DTYPES (all), of calls at many sizes for the SIZES (all), and, where matplotlib is there, NAME_<dtype>.png: bars at each
shape (of those that match REGEX), as multiples of the copy of the same bytes. A time with a star was disturbed:
its median is more than 1.3 times its least sample. A multiple in bold misses the bar.
"""

import argparse
import collections
import json
import pathlib
import re

Key = collections.namedtuple("Key", "op shape dtype cache")
SHOWN = ("device", "date", "torch", "cuda_driver")  # of a run; the JSON files have the rest


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


def cell_of(rows):
    """Our best time; in brackets its multiple of the copy, and PyTorch's best as a multiple of ours."""
    ours = {name: row for name, row in rows.items() if row["kind"] == "reel"}
    best = min(ours, key=lambda name: (disturbed(ours[name]), median(ours[name])))
    times = f"{median(ours[best]) / copy_of(rows):.2f}"
    torch = [median(row) for row in rows.values() if row["kind"] == "torch"]
    gain = f"; {min(torch) / median(ours[best]):.2f}" if torch else ""
    return f"{shown(ours[best], 1)} ({times if median(ours[best]) <= bar_of(rows) else f'**{times}**'}{gain})"


WIDEST = 9  # columns of sizes
SIZE = re.compile(r"\d+(?:x\d+)+")


def tables(table, dtypes, shown_sizes):
    """Operators that were measured at the same sizes are rows of a table with a column each; the others are in a list."""
    groups = collections.OrderedDict()
    for key, rows in table.items():
        if key.dtype in dtypes and any(row["kind"] == "reel" for row in rows.values()):
            size = next(iter(SIZE.findall(key.shape)), "-")
            call = " ".join(f"{key.op} {SIZE.sub('', key.shape, count=1)}".replace(" ,", ",").split()).strip(",")
            groups.setdefault((key.dtype, key.cache), {}).setdefault(call, {})[size] = cell_of(rows)
    for (dtype, cache), calls in groups.items():
        yield f"\n## {dtype}, {cache} cache"
        same = collections.OrderedDict()
        for call, cells in calls.items():
            same.setdefault(tuple(cells), []).append(call)
        for sizes, names in same.items():
            if len(names) > 3 and len(sizes) > 1:
                yield from grid(calls, [size for size in sizes if size in shown_sizes] or sizes, names)
                yield from over_the_bar(calls, [size for size in sizes if shown_sizes and size not in shown_sizes], names)
        yield "\n| call | us |\n|---|---:|"
        for sizes, names in same.items():
            if len(names) <= 3 or len(sizes) == 1:
                yield from (f"| {name}, {size} | {calls[name][size]} |" for name in names for size in sizes)


def over_the_bar(calls, sizes, names):
    """What misses the bar at sizes that have no column."""
    missed = [f"{name}, {size}: {calls[name][size]}" for name in names for size in sizes if "**" in calls[name][size]]
    if missed:
        yield f"\nOver the bar at other sizes: {'; '.join(missed)}."


def grid(calls, sizes, names):
    for start in range(0, len(sizes), WIDEST):
        part = sizes[start:start + WIDEST]
        yield f"\n| us | {' | '.join(part)} |"
        yield "|---|" + "---:|" * len(part)
        for name in names:
            yield f"| {name} | {' | '.join(calls[name][size] for size in part)} |"


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
    parser.add_argument("--dtypes", nargs="+", metavar="DTYPE")
    parser.add_argument("--sizes", nargs="+", default=[], metavar="SIZE")
    parser.add_argument("--plot", default="", metavar="REGEX")
    parser.add_argument("reports", nargs="+")
    options = parser.parse_args()
    metadata, table = load(options.reports)
    options.out.mkdir(parents=True, exist_ok=True)
    dtypes = sorted({key.dtype for key in table})
    lines = [f"# {options.title}", "",
             "Made by `tests/bench/kernels/report.py` of the JSON files beside this page, which have every variant, type and size. A cell is our best variant in",
             "microseconds, in brackets its multiple of the copy of the same bytes, and how many times as long PyTorch's best way takes. **Bold**: over the",
             "bar, 1.15 times the copy (below 16 MB the copy and 2 us).", ""]
    for entry in metadata:
        lines.append("- " + ", ".join(f"{name} {entry[name]}" for name in SHOWN if entry.get(name)))
    lines += tables(table, options.dtypes or dtypes, options.sizes)
    for dtype in dtypes:
        picture = f"{options.name}_{dtype}.png"
        if plot(table, dtype, options.plot, options.out / picture) or (options.out / picture).exists():
            lines += ["", f"![{dtype}]({picture})"]
    (options.out / f"{options.name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
