#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a dashboard from a Prometheus, by the panels' own queries, as one SVG: for machines without Grafana, and for pages.

    draw.py DASHBOARD.json --prometheus 127.0.0.1:9090 [--minutes 30] [--instance REGEX] [--interval 1m] > picture.svg

It knows what our dashboards use: rows, lines over time, and values. Panels whose queries have no series say "no data".
"""

import argparse
import json
import math
import pathlib
import re
import sys
import time
import urllib.parse
import urllib.request
from xml.sax.saxutils import escape

COLUMN, UNIT, GAP = 52, 26, 6  # pixels of a column and of a unit of height; between panels
POINTS = 120
IN_LEGEND = 6
COLOURS = ["#2f6fb7", "#d1772a", "#3b9a57", "#b83f52", "#7a5bb0", "#8a6d3b", "#c65fa0", "#5f7a8c", "#9aa32e", "#2a9db0"]
BYTES = ["B", "KiB", "MiB", "GiB", "TiB"]


def rounded(value):
    """Three digits that matter, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{min(digits, 9)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def in_unit(value, unit):
    """As Grafana writes it, for the units that our panels have."""
    if unit == "s":
        for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs")):
            if abs(value) >= size:
                return f"{rounded(value / size)} {name}"
        return "0 s" if value == 0 else f"{rounded(value * 1e9)} ns"
    if unit == "bytes":
        step = 0
        while abs(value) >= 1024 and step + 1 < len(BYTES):
            value, step = value / 1024, step + 1
        return f"{rounded(value)} {BYTES[step]}"
    if unit == "percentunit":
        return f"{rounded(value * 100)} %"
    return rounded(value) + {"reqps": "/s", "ops": "/s"}.get(unit, "")


def nice_top(value):
    """The next of 1, 2, 2.5, 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value * 0.999)


class Prometheus:
    """Series over a span of time that ends now."""

    def __init__(self, address, minutes, instance=".*", interval="1m"):
        self.address, self.instance, self.interval = address, instance, interval
        self.end = time.time()
        self.start = self.end - 60 * minutes

    def series(self, expression):
        """(labels, [(time, value), ...]) of each that has a value."""
        query = expression.replace("$__rate_interval", self.interval).replace("$instance", self.instance)
        query = query.replace("$__range", f"{max(int(self.end - self.start), 1)}s")
        step = max((self.end - self.start) / POINTS, 0.2)
        words = urllib.parse.urlencode({"query": query, "start": self.start, "end": self.end, "step": f"{step:.3f}"})
        with urllib.request.urlopen(f"http://{self.address}/api/v1/query_range?{words}", timeout=30) as answer:
            result = json.load(answer)["data"]["result"]
        for one in result:
            points = [(float(at), float(value)) for at, value in one["values"]]
            points = [(at, value) for at, value in points if math.isfinite(value)]
            if points:
                yield one["metric"], points


def series_of(panel, prometheus):
    """(legend, points), in the order of the queries."""
    found = []
    for target in panel.get("targets", []):
        for labels, points in prometheus.series(target["expr"]):
            legend = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda m: labels.get(m[1], ""), target.get("legendFormat", ""))
            found.append((legend.strip() or ", ".join(labels.values()), points))
    return found


def text(x, y, words, size=11, fill="#4a5560", anchor="start", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(words)}</text>')


def shortened(words, width, size=11):
    most = max(int(width / (size * 0.56)), 4)
    return words if len(words) <= most else words[:most - 1] + "…"


def legend_of(series, unit, x, y, width):
    """A line for each of the largest at the end, in two columns."""
    order = sorted(range(len(series)), key=lambda i: -series[i][1][-1][1])
    shown = order[:IN_LEGEND if len(order) <= IN_LEGEND else IN_LEGEND - 1]
    lines = []
    for place, i in enumerate(shown):
        left, top = x + (place % 2) * width / 2, y + (place // 2) * 14
        words = f"{series[i][0]}  {in_unit(series[i][1][-1][1], unit)}"
        lines.append(f'<rect x="{left:.1f}" y="{top - 7:.1f}" width="9" height="3" fill="{COLOURS[i % len(COLOURS)]}"/>')
        lines.append(text(left + 13, top - 2, shortened(words, width / 2 - 16, 10), 10))
    if len(shown) < len(order):
        place = len(shown)
        lines.append(text(x + (place % 2) * width / 2 + 13, y + (place // 2) * 14 - 2, f"and {len(order) - place} more", 10))
    return lines


def lines_of(series, unit, box, span):
    """Lines over time with an axis, in the box (x, y, width, height)."""
    x, y, width, height = box
    rows = (min(len(series), IN_LEGEND) + 1) // 2
    left, right = x + 52, x + width - 10
    top, bottom = y + 8, y + height - 18 - 14 * rows - 4
    high = nice_top(max(value for _, points in series for _, value in points))
    low = min(0.0, min(value for _, points in series for _, value in points))
    start, end = span

    def at(point):
        return (left + (point[0] - start) / (end - start) * (right - left),
                bottom - (point[1] - low) / (high - low) * (bottom - top))

    out = []
    for share in (0, 0.5, 1):
        level = bottom - share * (bottom - top)
        out.append(f'<line x1="{left}" y1="{level:.1f}" x2="{right}" y2="{level:.1f}" stroke="#e3e7ea"/>')
        out.append(text(left - 6, level + 4, in_unit(low + share * (high - low), unit), 10, anchor="end"))
    for share, anchor in ((0, "start"), (0.5, "middle"), (1, "end")):
        clock = time.strftime("%H:%M:%S", time.gmtime(start + share * (end - start)))
        out.append(text(left + share * (right - left), bottom + 14, clock, 10, "#8a949c", anchor))
    for i, (_, points) in enumerate(series):
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in map(at, points))
        if len(points) < 4:  # too short to be seen as a line
            px, py = at(points[-1])
            out.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.5" fill="{COLOURS[i % len(COLOURS)]}"/>')
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="1.5"/>')
    return out + legend_of(series, unit, x + 10, bottom + 34, width - 16)


def values_of(series, unit, box):
    x, y, width, height = box
    out = []
    for i, (legend, points) in enumerate(series[:3]):
        middle = y + height * (2 * i + 1) / (2 * min(len(series), 3))
        out.append(text(x + width / 2, middle + 2, in_unit(points[-1][1], unit), 24, "#22303a", "middle", "bold"))
        out.append(text(x + width / 2, middle + 20, shortened(legend, width - 20), 11, anchor="middle"))
    return out


def panel_of(panel, prometheus, y):
    """(SVG, whether it had data)"""
    place = panel["gridPos"]
    x, width, height = place["x"] * COLUMN + GAP, place["w"] * COLUMN - GAP, place["h"] * UNIT - GAP
    if panel["type"] == "row":
        return [text(x, y + 18, panel["title"], 15, "#22303a", weight="bold")], True
    out = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="#ffffff" stroke="#d5dbe0"/>',
           text(x + 10, y + 18, panel["title"], 12, "#22303a", weight="bold")]
    series = series_of(panel, prometheus)
    box = (x, y + 24, width, height - 24)
    unit = panel["fieldConfig"]["defaults"].get("unit", "short")
    if not series:
        return out + [text(x + width / 2, y + height / 2 + 8, "no data", 12, "#a5afb6", "middle")], False
    if panel["type"] == "stat":
        return out + values_of(series, unit, box), True
    return out + lines_of(series, unit, box, (prometheus.start, prometheus.end)), True


def draw(dashboard, prometheus):
    """(SVG, titles of panels without data)"""
    drawn, empty = [], []
    for panel in dashboard["panels"]:
        svg, has_data = panel_of(panel, prometheus, panel["gridPos"]["y"] * UNIT + 40)
        drawn += svg
        if not has_data:
            empty.append(panel["title"])
    width = 24 * COLUMN + GAP
    height = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in dashboard["panels"]) * UNIT + 46
    span = (prometheus.end - prometheus.start) / 60
    head = text(GAP, 26, dashboard["title"], 18, "#22303a", weight="bold") + text(
        width - GAP, 26, f"{rounded(span)} min to {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(prometheus.end))} UTC, "
        "drawn from the panels' queries", 11, "#8a949c", "end")
    svg = "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                     'font-family="DejaVu Sans, Helvetica, Arial, sans-serif">',
                     f'<rect width="{width}" height="{height}" fill="#f4f6f7"/>', head, *drawn, "</svg>"])
    return svg + "\n", empty


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dashboard", type=pathlib.Path)
    parser.add_argument("--prometheus", default="127.0.0.1:9090", help="its address")
    parser.add_argument("--minutes", type=float, default=30, help="how far back")
    parser.add_argument("--instance", default=".*", help="which servers, a regular expression")
    parser.add_argument("--interval", default="1m", help="of rates: four scrapes or more")
    args = parser.parse_args()
    prometheus = Prometheus(args.prometheus, args.minutes, args.instance, args.interval)
    try:
        svg, empty = draw(json.loads(args.dashboard.read_text(encoding="utf-8")), prometheus)
    except OSError as error:
        sys.exit(f"draw.py: Prometheus at {args.prometheus} does not answer: {error}")
    sys.stdout.write(svg)
    if empty:
        print(f"draw.py: no data: {', '.join(empty)}", file=sys.stderr)


if __name__ == "__main__":
    main()
