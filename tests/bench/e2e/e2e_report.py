# SPDX-License-Identifier: Apache-2.0
"""A run of e2e_bench as a table and a picture, and compared with an earlier one: `e2e_report.py NEW [OLD]`, both e2e.json.

Exit status: 0, or 1 where an arm failed or one of Reel's is more than 3 % slower than it was.
"""

import json
import pathlib
import statistics
import sys
from xml.sax.saxutils import escape

SLOWER = 1.03
FIGURES = ["step", "decode", "request"]


def spread(values):
    """Median, tenth and ninetieth percentile, by the nearest rank; None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None

    def at(share):
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return {"median": statistics.median(ordered), "p10": at(0.1), "p90": at(0.9), "n": len(ordered)}


def figures(arm):
    renders = arm["renders"]
    card = [render["card"] for render in renders if render.get("card")]
    found = {
        "step": spread(step for render in renders for step in render["steps_ms"]),
        "decode": spread(render["decode_ms"] for render in renders if "decode_ms" in render),
        "request": spread(render["request_ms"] for render in renders),
    }
    return found | {key: statistics.median(sample[key] for sample in card) if card else None
                    for key in ("sm_mhz", "watts", "celsius")}


def cell(value):
    return f"{value['median']:.2f} ({value['p10']:.2f}-{value['p90']:.2f})" if value else "-"


def table(result):
    """Markdown; times in ms: median (p10-p90)."""
    lines = ["| arm | step | x eager | decode | request | MHz | W | C |", "|---|---|---|---|---|---|---|---|"]
    eager = figures(result["arms"]["eager"])["step"] if "eager" in result["arms"] else None
    for name, arm in result["arms"].items():
        found = figures(arm)
        times = f"{eager['median'] / found['step']['median']:.2f}" if eager and found["step"] else "-"
        card = [f"{found[key]:.0f}" if found[key] else "-" for key in ("sm_mhz", "watts", "celsius")]
        lines.append(" | ".join([f"| {name}", cell(found["step"]), times, *(cell(found[key]) for key in FIGURES[1:]), *card]) + " |")
    return "\n".join(lines)


def facts(named):
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in named.items())


def document(result):
    shape = result["shape"]
    versions = {facts(arm["prepared"]["versions"]) for arm in result["arms"].values() if "versions" in arm["prepared"]}
    lines = [f"# {shape['width']}x{shape['height']}, {shape['num_frames']} frames, {shape['steps']} steps, {shape['dtype']}", "",
             f"{result['began']}; {facts(result['card']) or result['device']}; host: {facts(result['host'])}; {'; '.join(sorted(versions))}. "
             f"{result['rounds']} rounds.",
             "", "Milliseconds: median (p10-p90). Requests of diffusers begin at embeddings and end at frames on the device; those of `reel` have the "
             "text and frames on the host in them, those of `reeld` the MP4 and the way to the caller.", "", table(result), ""]
    for name, arm in result["arms"].items():
        chosen = arm["prepared"].get("calls") or arm["prepared"].get("attention")
        if chosen:
            lines.append(f"- `{name}` runs {', '.join(f'`{item}`' for item in chosen)}")
    lines += [f"- `{name}` failed: {arm['error']}" for name, arm in result["arms"].items() if "error" in arm]
    return "\n".join(lines) + "\n"


def picture(result):
    """Bars of a step's medians with lines from p10 to p90, as SVG."""
    rows = [(name, figures(arm)["step"]) for name, arm in result["arms"].items()]
    rows = [(name, step) for name, step in rows if step]
    scale = 460 / max((step["p90"] for _, step in rows), default=1)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{40 + 24 * len(rows)}" font-family="sans-serif" font-size="13">',
             '<text x="10" y="20">a denoising step, ms</text>']
    for number, (name, step) in enumerate(rows):
        y = 32 + 24 * number
        colour = "#2b7a78" if name.startswith("reel") else "#9aa5b1"
        parts += [f'<text x="190" y="{y + 14}" text-anchor="end">{escape(name)}</text>',
                  f'<rect x="200" y="{y}" width="{step["median"] * scale:.1f}" height="18" fill="{colour}"/>',
                  f'<line x1="{200 + step["p10"] * scale:.1f}" x2="{200 + step["p90"] * scale:.1f}" y1="{y + 9}" y2="{y + 9}" stroke="#000"/>',
                  f'<text x="{206 + step["p90"] * scale:.1f}" y="{y + 14}">{step["median"]:.2f}</text>']
    return "\n".join([*parts, "</svg>"]) + "\n"


def slower(new, old):
    """Of Reel's arms, what takes more than 3 % longer than in `old`, or is there no more. ValueError for another request."""
    if new["shape"] != old["shape"] or new.get("family") != old.get("family"):
        raise ValueError(f"the baseline is of {old['shape']}, this run of {new['shape']}")
    found = []
    for name, arm in old["arms"].items():
        if not name.startswith("reel") or name not in new["arms"]:
            continue
        before, after = figures(arm), figures(new["arms"][name])
        for key in FIGURES:
            if before[key] and not after[key]:
                found.append(f"{name}: no figure for {key}")
            elif before[key] and after[key]["median"] > SLOWER * before[key]["median"]:
                found.append(f"{name}: {key} {before[key]['median']:.2f} -> {after[key]['median']:.2f} ms")
    return found


def report(result, out, baseline=None):
    (out / "e2e.md").write_text(document(result), encoding="utf-8")
    (out / "e2e.svg").write_text(picture(result), encoding="utf-8")
    print(table(result))
    found = slower(result, baseline) if baseline else []
    for line in found:
        print(f"slower: {line}", file=sys.stderr)
    return 1 if found or any("error" in arm for arm in result["arms"].values()) else 0


if __name__ == "__main__":
    RESULTS = [json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for file in sys.argv[1:3]]
    sys.exit(report(RESULTS[0], pathlib.Path(sys.argv[1]).resolve().parent, *RESULTS[1:]))
