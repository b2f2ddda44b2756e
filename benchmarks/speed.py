"""The speeds that the project claims: table and chart of what `encodings.py` stored.

Nothing is measured here, and no number is written here: all come from the stored file.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from matplotlib.ticker import LogLocator

from posenc_course.colours import BLUE, GREY
from posenc_course.figures.picture import Picture, canvas, finish

RESULTS = Path(__file__).resolve().parent / "results"
FORMAT = 1

ROWS = (
    "rope-written",
    "rope-fresh-float32",
    "rope-fresh-bfloat16",
    "rope-decode",
    "sinusoidal-table",
    "alibi-attention",
)
"""The rows that a file of a CPU must have, and begins with; one of a GPU has the first three."""


class SpeedTables:
    """Several tables that print as text and show as HTML."""

    def __init__(self, tables: list[tuple[str, list[str], list[list[str]]]]) -> None:
        self.tables = tables

    def __str__(self) -> str:
        return "\n".join(_as_text(*table) for table in self.tables)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(_as_html(*table) for table in self.tables)
        return f'<figure class="posenc-figure posenc-speed">{body}</figure>'


def stored_of_processors(folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """What the benchmark stored, by the name of the processor that it ran on."""
    return {results["machine"]["cpu"]: results for results in _stored("cpu", folder)}


def stored_of_gpus(folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """What the benchmark stored, by the name of the GPU that it ran on."""
    return {results["machine"]["gpu"]: results for results in _stored("gpu", folder)}


def _stored(kind: str, folder: Path) -> list[dict[str, Any]]:
    return [stored_results(path.stem, folder) for path in sorted(Path(folder).glob(f"{kind}-*.json"))]


def stored_results(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """What the benchmark stored under this name.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is of another format, of a run of tiny sizes, or lacks a row.
    """
    path = Path(folder) / f"{name}.json"
    if not path.exists():
        have = ", ".join(sorted(p.stem for p in Path(folder).glob("*.json"))) or "none"
        raise FileNotFoundError(f"no results {name!r} (there are: {have}); `make bench` makes them")
    results: dict[str, Any] = json.loads(path.read_text())
    require_complete(results)
    if results["smoke"]:
        raise ValueError(f"{path.name} is of a run with --smoke, whose times mean nothing; run `make bench`")
    return results


def require_complete(results: dict[str, Any]) -> None:
    """ValueError unless every row is there, with ours, and its limit or peers.

    Memory and imports must be there too, if the results are those of a CPU.
    """
    if results.get("format") != FORMAT:
        raise ValueError(f"the results have format {results.get('format')!r}, not {FORMAT}; run `make bench`")
    on_cpu = results["machine"]["device"] == "cpu"
    wanted = ROWS if on_cpu else ROWS[:3]
    if not results["runs"]:
        raise ValueError("the results hold no run; run `make bench`")
    for run in results["runs"]:
        have = [row["id"] for row in run["rows"]]
        if tuple(have[: len(wanted)]) != wanted:
            raise ValueError(
                f"the run {run['allocation']!r} has rows {have}, not {list(wanted)}; run `make bench`"
            )
        for row in run["rows"]:
            kinds = {each["kind"] for each in row["contenders"]}
            if not {"ours", "limit"} <= kinds or (row["id"] != "rope-written" and "peer" not in kinds):
                raise ValueError(
                    f"{row['id']} has only {sorted(kinds)}; install the peers and run `make bench`"
                )
    if on_cpu and not {"imports", "memory"} <= results.keys():
        raise ValueError("the results lack memory or imports; run `make bench`")


def speed_tables(results: dict[str, Any]) -> SpeedTables:
    """Every row as a table: multiples of its unit, medians of all rounds, and the times beside them."""
    tables = [_row_table(results, row["id"]) for row in results["runs"][0]["rows"]]
    if "imports" in results:
        tables += [_memory_table(results["memory"]), _import_table(results["imports"])]
    return SpeedTables(tables)


def compared(processors: dict[str, dict[str, Any]]) -> SpeedTables:
    """For each piece of work our best way beside the fastest peer, on every processor that did it."""
    header = ["", *(f"{who}, {name}" for name in processors for who in ("ours", "fastest peer"))]
    titles = {
        row["id"]: row["title"] for results in processors.values() for row in results["runs"][0]["rows"]
    }
    lines = []
    for row_id, title in titles.items():
        times = [time for results in processors.values() for time in _best_times(results, row_id)]
        if any(times):
            lines.append([title, *times])
    return SpeedTables([("Medians by default allocation", header, lines)])


def contenders(results: dict[str, Any], row_id: str, kind: str) -> dict[str, dict[str, Any]]:
    """The ways of one kind ("ours", "peer") to do a piece of work, by default allocation, by their names."""
    row = next(row for row in results["runs"][0]["rows"] if row["id"] == row_id)
    return {each["name"]: each for each in row["contenders"] if each["kind"] == kind}


def _best_times(results: dict[str, Any], row_id: str) -> tuple[str, str]:
    """Of our ways without torch.compile, and of the peers that are right; empty where there is none."""
    rows = [row for row in results["runs"][0]["rows"] if row["id"] == row_id]
    ways = [each for row in rows for each in row["contenders"] if not each["wrong"]]
    ours = [each for each in ways if each["kind"] == "ours" and "compiled" not in each["name"]]
    peers = [each for each in ways if each["kind"] == "peer" and "compiled" not in each["name"]]
    if not peers:
        return "", ""
    fastest = min(ours, key=_median), min(peers, key=_median)
    return _time(_median(fastest[0])), f"{_time(_median(fastest[1]))} ({fastest[1]['name']})"


def _median(each: dict[str, Any]) -> float:
    middle: float = each["seconds"][1]
    return middle


def circumstances(results: dict[str, Any]) -> str:
    """One sentence: on what, when, how often, with which versions."""
    machine = results["machine"]
    cores = f"{machine['cores']} cores, {machine['instructions']}; {machine['threads']} threads"
    what = machine.get("gpu") or f"{machine['cpu']}, {cores}"
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    return (
        f"{what}; {results['rounds']} rounds; {results['date']}; "
        f"Python {machine['python']}; {versions}. Command: {results['command'].strip()}"
    )


def misses(results: dict[str, Any]) -> list[str]:
    """Where ours is above the goal, each as a sentence."""
    found = []
    for place, run in enumerate(results["runs"]):
        for row in run["rows"]:
            goals = _goals(results, row)
            if place < len(goals):
                found += _above(row, goals[place], run["allocation"])
            if place >= len(goals) or row["id"] in FASTER_THAN_PEERS:
                found += _behind(row, run["allocation"])
    if "imports" in results:
        imports = results["imports"]
        ours = next(each for each in imports["modules"] if each["kind"] == "ours")
        if ours["seconds"][1] > imports["at_most_seconds"]:
            goal, taken = imports["at_most_seconds"], ours["seconds"][1]
            found.append(f"import {ours['name']} takes {taken:.3f} s, the goal is {goal} s")
        memory = results["memory"]
        if memory["ours"]["bytes"] >= memory["n_by_n_bytes"] / memory["heads"] / 8:
            found.append(f"ALiBi over {memory['keys']:,} keys takes {_bytes(memory['ours']['bytes'])}")
    return found


def _goals(results: dict[str, Any], row: dict[str, Any]) -> list[float]:
    """Those of a row, one for each of the first circumstances; none where the peers are the goal.

    PyTorch keeps the memory of a GPU, so there the goal is the one without page faults.
    """
    goals: list[float] = row["at_most"] or []
    return goals if results["machine"]["device"] == "cpu" else goals[1:]


FASTER_THAN_PEERS = ("rope-fresh-bfloat16",)
"""Rows whose goal is also to be faster than every peer, as it is wherever a row has no other."""


def _above(row: dict[str, Any], goal: float, where: str) -> list[str]:
    taken = {each["name"]: each["multiple"][1] for each in _ours(row)}
    found = []
    for name, multiple in taken.items():
        if "compiled" not in name and multiple > goal:
            compiled = taken.get(f"{name}, compiled")
            also = "" if compiled is None else f", and {compiled:.2f} with torch.compile"
            found.append(f"{row['title']}, {where}: {name} takes {multiple:.2f}{also}; the goal is {goal}")
    return found


def _behind(row: dict[str, Any], where: str) -> list[str]:
    peers = [each for each in row["contenders"] if each["kind"] == "peer" and not each["wrong"]]
    if not peers:
        return []
    fastest = min(each["multiple"][1] for each in peers)
    return [
        f"{row['title']}, {where}: {each['name']} is behind the fastest peer "
        f"({each['multiple'][1]:.2f} against {fastest:.2f})"
        for each in _ours(row)
        if "compiled" not in each["name"] and each["multiple"][1] >= fastest
    ]


def chart(results: dict[str, Any]) -> Picture:
    """A panel per row: each way a dot, at so many times its unit; ours in colour."""
    first, *more = results["runs"]
    rows = first["rows"]
    counts = [len(row["contenders"]) for row in rows]
    with canvas(width=9.0, height=0.9 * len(rows) + 0.24 * sum(counts)) as figure:
        panels = figure.subplots(len(rows), 1, gridspec_kw={"height_ratios": [n + 1 for n in counts]})
        for axes, row in zip(panels, rows, strict=True):
            names = [each["name"] for each in row["contenders"]]
            for place, run in enumerate([first, *more]):
                its = next(other for other in run["rows"] if other["id"] == row["id"])
                for at, name in enumerate(names):
                    each = _named(its, name)
                    if each is None:
                        continue
                    color = BLUE if each["kind"] == "ours" else GREY
                    low, middle, high = each["multiple"]
                    axes.plot([low, high], [at, at], color=color, linestyle="-", linewidth=1.2)
                    axes.plot(
                        middle,
                        at,
                        marker="os^"[place],
                        markersize=8,
                        color=color,
                        markerfacecolor=color if place == 0 else "none",
                        linestyle="none",
                        label=run["allocation"] if at == 0 else None,
                    )
            axes.axvline(1, color=GREY, linestyle=":", linewidth=1.2)
            axes.set_xscale("log")
            low, high = axes.get_xlim()
            if high / low < 100:
                axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.set_yticks(range(len(names)), names)
            axes.set_ylim(len(names) - 0.4, -0.6)
            axes.set_ylabel("way")
            axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
            axes.xaxis.set_minor_formatter(lambda x, _: "")
            axes.set_title(row["title"], loc="left", fontsize=10)
            unit = row["limit"] if row["unit_is"] == "limit" else "the fastest peer"
            axes.set_xlabel(f"multiples of {unit}")
        if more:
            handles, labels = panels[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper right", ncols=3)
        return finish(figure, alt=_alt(results))


def _alt(results: dict[str, Any]) -> str:
    sentences = ["Panels of dots, one for each piece of work, on logarithmic axes; further left is faster."]
    run = results["runs"][0]
    for row in run["rows"]:
        ours = min(_ours(row), key=lambda each: float(each["multiple"][1]))
        peers = [each for each in row["contenders"] if each["kind"] == "peer" and not each["wrong"]]
        sentence = f"{row['title']}: {ours['name']} at {_multiple(ours['multiple'][1])}"
        if peers:
            peer = min(peers, key=lambda each: float(each["multiple"][1]))
            sentence += f", the fastest peer, {peer['name']}, at {_multiple(peer['multiple'][1])}"
        sentences.append(sentence + ".")
    return " ".join(sentences)


# ---- tables


def _row_table(results: dict[str, Any], row_id: str) -> tuple[str, list[str], list[list[str]]]:
    runs = results["runs"]
    rows = [next(row for row in run["rows"] if row["id"] == row_id) for run in runs]
    unit = rows[0]["limit"] if rows[0]["unit_is"] == "limit" else "the fastest peer of the run"
    names = [run["allocation"] for run in runs]
    header = ["", *names, *(f"median ({name})" for name in names), "quartiles", "off by"]
    lines = []
    for each in rows[0]["contenders"]:
        across = [_named(row, each["name"]) for row in rows]
        spread = [
            " to ".join(_three_digits(e["multiple"][end]) for end in (0, 2)) for e in across if e is not None
        ]
        off = "" if each["off_by"] is None else f"{each['off_by']:.1e}"
        lines.append(
            [
                each["name"],
                *("–" if e is None else _multiple(e["multiple"][1]) for e in across),
                *("–" if e is None else _time(e["seconds"][1]) for e in across),
                "; ".join(spread),
                f"{off} ({each['wrong']})" if each["wrong"] else off,
            ]
        )
    if rows[0]["at_most"] is not None:
        goals = [_multiple(goal) for goal in _goals(results, rows[0])[: len(runs)]]
        lines.append(["ours, at most (the goal)", *goals, *[""] * (len(header) - 1 - len(goals))])
    return f"{rows[0]['title']} (1 is {unit})", header, lines


def _memory_table(memory: dict[str, Any]) -> tuple[str, list[str], list[list[str]]]:
    lines = [
        ["ours: alibi_attention", _bytes(memory["ours"]["bytes"])],
        ["attention without bias", _bytes(memory["limit"]["bytes"])],
        ["an n-by-n bias in float32 alone (computed)", _bytes(memory["n_by_n_bytes"])],
        ["of it the result", _bytes(memory["ours"]["result_bytes"])],
    ]
    title = f"Causal attention over {memory['keys']:,} keys, {memory['heads']} heads of 64, float32"
    return title, ["", "growth of the peak of memory"], lines


def _import_table(imports: dict[str, Any]) -> tuple[str, list[str], list[list[str]]]:
    lines = [
        [f"import {each['name']}", _time(middle), f"{_time(low)} to {_time(high)}"]
        for each in imports["modules"]
        for low, middle, high in [each["seconds"]]
    ]
    lines += [[f"import {name}", "–", reason] for name, reason in imports["missing"].items()]
    lines.append(["ours, at most (the goal)", _time(imports["at_most_seconds"]), ""])
    return "Import in a fresh interpreter", ["", "median", "quartiles"], lines


def _as_text(title: str, header: list[str], lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    shown = [title]
    for first, *others in [header, *lines]:
        cells = [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
        shown.append("  ".join(cells).rstrip())
    return "\n".join([*shown, ""])


def _as_html(title: str, header: list[str], lines: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "".join(
        "<tr>"
        + f'<th scope="row">{escape(line[0])}</th>'
        + "".join(f"<td>{_cell(cell)}</td>" for cell in line[1:])
        + "</tr>"
        for line in lines
    )
    return (
        f'<div class="pst-scrollable-table-container"><table><caption>{escape(title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    """A line for each of several numbers, and for a remark: the page breaks none of them elsewhere."""
    return re.sub(r"(?<=;) | (?=\()", "<br>", escape(text))


def _ours(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in row["contenders"] if each["kind"] == "ours"]


def _named(row: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((each for each in row["contenders"] if each["name"] == name), None)


def _multiple(number: float) -> str:
    return f"{number:.2f}" if number < 10 else f"{number:.0f}"


def _time(seconds: float) -> str:
    for unit, size in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1e3 * size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds)} s"


def _three_digits(number: float) -> str:
    return f"{number:#.3g}".rstrip(".")


def _bytes(count: float) -> str:
    return f"{count / 2**20:,.0f} MiB"
