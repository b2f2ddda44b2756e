"""The benchmark runs, its contenders do the same work, and the page is made of what it stored. No times."""

from __future__ import annotations

import copy
import json
import platform
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from benchmarks import cases, encodings, looks, measure, speed

STORED = sorted(encodings.RESULTS.glob("*.json"))


@pytest.fixture(scope="module")
def smoke() -> dict[str, Any]:
    """Every row once at tiny sizes, in this process; what needs fresh interpreters is made up."""
    threads = torch.get_num_threads()
    try:
        run = encodings.run_rows("default", rounds=2, smoke=True)
    finally:
        torch.set_num_threads(threads)
    one = {"bytes": 2**18, "result_bytes": 2**17}
    return {
        "format": encodings.FORMAT,
        "date": "2026-01-01",
        "command": "python -m benchmarks.encodings --smoke",
        "rounds": 2,
        "smoke": True,
        "machine": measure.machine("cpu", 2),
        "versions": measure.versions(),
        "runs": [copy.deepcopy(run) | {"allocation": name} for name in encodings.CIRCUMSTANCES],
        "imports": {
            "at_most_seconds": 0.15,
            "rounds": 1,
            "modules": [{"name": "posenc_lib", "kind": "ours", "seconds": [0.1, 0.1, 0.1]}],
            "missing": {},
        },
        "memory": {"keys": 1024, "heads": 2, "n_by_n_bytes": 2**23, "limit": one, "ours": one},
    }


def contenders(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for run in results["runs"] for row in run["rows"] for each in row["contenders"]]


# ---- the smoke run


def test_all_rows_are_there_with_the_peers_of_the_test_requirements(smoke: dict[str, Any]) -> None:
    speed.require_complete(smoke)
    assert set(smoke["runs"][0]["skipped"]) <= {"torchtune.modules"}
    peers = {each["name"] for each in contenders(smoke) if each["kind"] == "peer"}
    for package in ("transformers", "rotary-embedding-torch", "x-transformers", "timm", "diffusers"):
        assert any(package in name for name in peers), package


def test_ours_and_peers_agree(smoke: dict[str, Any]) -> None:
    for each in contenders(smoke):
        if each["kind"] == "ours":
            assert each["off_by"] < 1e-6, each["name"]
        elif each["kind"] == "peer":
            assert each["off_by"] < 0.1 or each["wrong"], each["name"]


def test_the_unit_is_one(smoke: dict[str, Any]) -> None:
    for run in smoke["runs"]:
        for row in run["rows"]:
            unit = next(each for each in row["contenders"] if each["name"] == row["unit"])
            assert unit["multiple"] == [1, 1, 1]
            assert unit["kind"] == ("limit" if row["unit_is"] == "limit" else "peer")


@pytest.mark.peers
@pytest.mark.slow
def test_the_command_from_end_to_end(tmp_path: Path) -> None:
    """Two processes, fresh interpreters, the table and the file."""
    out = tmp_path / "smoke.json"
    command = [sys.executable, "-m", "benchmarks.encodings", "--smoke", "--rounds", "1", "--out", str(out)]
    root = Path(encodings.__file__).parents[1]
    finished = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    results = json.loads(out.read_text())
    speed.require_complete(results)
    if platform.libc_ver()[0] == "glibc":
        assert [run["allocation"] for run in results["runs"]] == list(encodings.CIRCUMSTANCES)
    assert str(tmp_path) not in out.read_text(), "a path of this machine"
    assert results["memory"]["ours"]["bytes"] > 0
    assert {each["name"] for each in results["imports"]["modules"]} >= {"posenc_lib", "numpy", "torch"}
    for each in contenders(results):
        assert each["name"] in finished.stdout
    with pytest.raises(ValueError, match="--smoke"):
        speed.stored_results("smoke", tmp_path)


# ---- what would be noticed


def contender(call: Any, expected: Any = None, **more: Any) -> cases.Contender:
    return cases.Contender("it", "peer", call, None if expected is None else lambda: (expected,), **more)


@pytest.mark.parametrize("made", [torch.ones(3) * 1.1, torch.full((3,), torch.nan)])
def test_a_peer_that_does_other_work_stops_the_run(made: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="it differs from ours"):
        contender(lambda: made, torch.ones(3)).off_by()
    assert contender(lambda: made, torch.ones(3), wrong="known").off_by() is not None


def test_a_peer_of_another_shape_stops_the_run() -> None:
    with pytest.raises(ValueError, match="shapes"):
        contender(lambda: torch.ones(1, 3), torch.ones(3)).off_by()


def test_a_peer_that_is_wrong_is_never_the_fastest() -> None:
    quick = cases.Contender("wrong", "peer", int, wrong="known")
    slow = cases.Contender("right", "peer", lambda: sum(range(20_000)))
    work = cases.Work("x", "x", "x", None, (quick, slow), unit="fastest peer")
    assert measure.measure(work, 3)["unit"] == "right"


def test_multiples_are_those_of_the_same_round() -> None:
    """A machine that slows down tenfold midway changes no multiple."""
    seconds = {"unit": [1.0, 10.0, 10.0], "it": [2.0, 20.0, 20.0]}
    summary = measure._summary(contender(int), seconds, "unit", None)
    assert summary["multiple"] == [2, 2, 2]
    assert summary["seconds"][1] == 20


@pytest.mark.parametrize(("numbers", "expected"), [([3.0], [3, 3, 3]), ([5.0, 1, 2, 4, 3], [2, 3, 4])])
def test_quartiles(numbers: list[float], expected: list[float]) -> None:
    assert measure.quartiles(numbers) == expected


def test_a_peer_that_is_not_installed_is_named() -> None:
    setting = cases.Setting()
    assert setting.module("no_such_peer") is None
    assert setting.skipped == {"no_such_peer": "No module named 'no_such_peer'"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "0"], "give 1 or more"),
        (["--threads", "0"], "give 1 or more"),
        (["--device", "tpu"], "invalid"),
    ],
)
def test_bad_options(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        encodings.parse(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        encodings.parse(["--device", "cuda"])
    assert "torch finds no CUDA device" in capsys.readouterr().err


def test_the_output_file_is_not_stored() -> None:
    assert encodings.parse(["--out", "a.json", "--rounds", "3"]).given == ["--rounds", "3"]
    assert encodings.parse(["--rounds=3", "--out=a.json"]).given == ["--rounds=3"]
    of_this_processor = encodings.default_out(encodings.parse([])).name
    assert re.fullmatch(r"cpu-[a-z0-9-]+-2-threads\.json", of_this_processor)


@pytest.mark.parametrize(
    ("processor", "slug"),
    [
        ("Intel(R) Xeon(R) Processor", "intel-xeon"),
        ("AMD EPYC", "amd-epyc"),
        ("Intel(R) Core(TM) i7-1185G7 CPU @ 3.00GHz", "intel-core-i7-1185g7"),
    ],
)
def test_a_file_is_named_after_its_processor(processor: str, slug: str) -> None:
    assert encodings._slug(processor) == slug


# ---- table and chart


def changed(results: dict[str, Any], change: Any) -> dict[str, Any]:
    results = copy.deepcopy(results)
    change(results)
    return results


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(format=0), "format 0"),
        (lambda r: r["runs"].clear(), "no run"),
        (lambda r: r["runs"][1]["rows"].pop(0), "has rows"),
        (lambda r: r["runs"][0]["rows"][1].update(contenders=[]), "has only"),
        (lambda r: r.pop("memory"), "lack memory"),
    ],
)
def test_incomplete_results_are_refused(smoke: dict[str, Any], change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        speed.require_complete(changed(smoke, change))


def test_results_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no results 'x'.*make bench"):
        speed.stored_results("x", tmp_path)


def test_the_table_is_made_of_the_stored_numbers(smoke: dict[str, Any]) -> None:
    def change(results: dict[str, Any]) -> None:
        for run, multiple in zip(results["runs"], (3.217, 4.118, 5.229), strict=True):
            run["rows"][0]["contenders"][1]["multiple"] = [1, multiple, 9]

    shown = speed.speed_tables(changed(smoke, change))
    for text in (str(shown), shown._repr_html_()):
        assert "3.22" in text
        assert "4.12" in text
        assert "5.23" in text
    for each in contenders(smoke):
        assert each["name"] in str(shown)


def test_a_miss_is_told_and_a_goal_reached_is_not(smoke: dict[str, Any]) -> None:
    def set_ours(multiple: float) -> Any:
        def change(results: dict[str, Any]) -> None:
            for each in contenders(results):
                value = multiple if each["kind"] == "ours" else 100.0
                each["multiple"] = [value] * 3

        return change

    assert speed.misses(changed(smoke, set_ours(0.5))) == []
    told = speed.misses(changed(smoke, set_ours(1.21)))
    assert any("takes 1.21; the goal is 1.2" in miss for miss in told)
    assert len(speed.misses(changed(smoke, set_ours(101.0)))) > len(told)

    def slow_import(results: dict[str, Any]) -> None:
        set_ours(0.5)(results)
        results["imports"]["modules"][0]["seconds"] = [0.1, 0.2, 0.3]
        results["memory"]["ours"] = {"bytes": results["memory"]["n_by_n_bytes"], "result_bytes": 1}

    told = speed.misses(changed(smoke, slow_import))
    assert len(told) == 2
    assert "import posenc_lib takes 0.200 s" in told[0]
    assert "1,024 keys" in told[1]


def test_the_chart_has_every_way_and_says_the_numbers(smoke: dict[str, Any]) -> None:
    picture = speed.chart(smoke)
    written = re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)
    for row in smoke["runs"][0]["rows"]:
        assert row["title"] in written
        assert row["title"] in picture.alt
    for name in {each["name"] for each in contenders(smoke)}:
        assert name in written
    assert written.count("no page faults") == 1
    assert "currentColor" in picture.svg


# ---- what is stored, and the page


def test_there_are_results_of_two_makers_of_processors() -> None:
    makers = {name.split()[0].partition("(")[0] for name in speed.stored_of_processors()}
    assert makers >= {"AMD", "Intel"}


def test_one_processor_was_measured_in_all_circumstances_and_rows() -> None:
    measured = [
        [[run["allocation"] for run in results["runs"]], [row["id"] for row in results["runs"][0]["rows"]]]
        for results in speed.stored_of_processors().values()
    ]
    assert any(
        names == list(encodings.CIRCUMSTANCES) and {"rope-step", "mrope"} <= set(rows)
        for names, rows in measured
    )


def test_ours_and_the_fastest_peer_stand_side_by_side() -> None:
    """The shown times are those of the quickest right way of each kind, in the file."""
    processors = speed.stored_of_processors()
    [(_, header, lines)] = speed.compared(processors).tables
    assert len(header) == 1 + 2 * len(processors)
    for number, results in enumerate(processors.values()):
        for row in results["runs"][0]["rows"]:
            peers = [c for c in row["contenders"] if c["kind"] == "peer" and not c["wrong"]]
            if not peers:
                continue
            [line] = [line for line in lines if line[0] == row["title"]]
            quickest = sorted(peers, key=lambda each: each["seconds"][1])
            quickest = [each for each in quickest if "compiled" not in each["name"]]
            assert quickest[0]["name"] in line[2 + 2 * number]


@pytest.mark.parametrize("path", STORED, ids=[path.stem for path in STORED])
def test_stored_results_are_complete(path: Path) -> None:
    results = speed.stored_results(path.stem)
    assert results["rounds"] >= (20 if results["machine"]["device"] == "cpu" else 7)
    assert not re.search(r"/(home|root|work|tmp|Users)\b", path.read_text())
    if results["machine"]["device"] == "cpu":
        assert [run["allocation"] for run in results["runs"]][:2] == list(encodings.CIRCUMSTANCES)[:2]
        assert len(speed.speed_tables(results).tables) == len(results["runs"][0]["rows"]) + 2
        assert results["memory"]["keys"] == cases.FULL.long_keys
    for each in contenders(results):
        assert each["multiple"][0] <= each["multiple"][1] <= each["multiple"][2]


def test_gpus_and_processors_are_kept_apart() -> None:
    processors, gpus = speed.stored_of_processors(), speed.stored_of_gpus()
    assert len(processors) + len(gpus) == len(STORED)
    assert all(results["machine"]["device"] == "cpu" for results in processors.values())
    for name, results in gpus.items():
        assert results["machine"]["device"] == "cuda"
        assert speed.circumstances(results).startswith(f"{name}; {results['rounds']} rounds")
        assert len(speed.speed_tables(results).tables) == len(results["runs"][0]["rows"])


def test_the_goal_on_a_gpu_is_the_one_without_page_faults(smoke: dict[str, Any]) -> None:
    """Of the row whose two goals differ, what is between them is a miss on a GPU alone."""

    def change(results: dict[str, Any]) -> None:
        del results["runs"][1:], results["imports"], results["memory"]
        results["runs"][0]["rows"] = results["runs"][0]["rows"][1:2]
        [row] = results["runs"][0]["rows"]
        by_default, without_page_faults = row["at_most"]
        for each in row["contenders"]:
            each["multiple"] = [(by_default + without_page_faults) / 2] * 3

    on_cpu = changed(smoke, change)
    on_gpu = changed(on_cpu, lambda r: r["machine"].update(device="cuda", gpu="A GPU"))
    goal = on_cpu["runs"][0]["rows"][0]["at_most"][1]
    assert speed.misses(on_cpu) == []
    assert speed.misses(on_gpu)
    assert all(miss.endswith(f"the goal is {goal}") for miss in speed.misses(on_gpu))
    [(_, _, lines)] = speed.speed_tables(on_gpu).tables
    assert lines[-1][1] == f"{goal:.2f}"


def test_no_number_of_the_page_is_typed() -> None:
    page = (Path(encodings.__file__).parents[1] / "book" / "reference" / "speed.md").read_text()
    prose = re.sub(r"```.*?```|^---.*?^---", "", page, flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"\b\d[\d.]*", prose) == ["1"], "the unit alone"


# ---- how pages look


def small_site(root: Path, light: str) -> Path:
    """One page: a colour for each theme, and far below it a place of its own."""
    (root / "book").mkdir(parents=True)
    (root / "book" / "page.html").write_text(
        f"<!doctype html><title>Page</title><style>html {{ background: {light}; }}"
        "@media (prefers-color-scheme: dark) { html { background: #000; } }</style>"
        '<p style="height: 3000px"><p id="far" style="height: 2000px; margin: 0; background: #0f0">'
    )
    return root


def test_a_sheet_has_both_sites_in_all_looks_at_the_same_place(tmp_path: Path) -> None:
    red, blue, green, black = (255, 0, 0), (0, 0, 255), (0, 255, 0), (0, 0, 0)
    old, new = small_site(tmp_path / "old", "#f00"), small_site(tmp_path / "new", "#00f")
    views = [looks.View("far", "page", "Its place", "#far")]
    with ThreadPoolExecutor() as apart:  # of the browser that other tests of this process keep open
        apart.submit(looks.compare, old, new, out=tmp_path, views=views).result()

    sheet = Image.open(tmp_path / "far.webp").convert("RGB")
    desk = looks.MARGIN + looks.LABEL
    phone = sheet.height - looks.MARGIN - looks.SIZES["phone"][1]
    dark = looks.SIZES["phone"][0] + looks.MARGIN
    for left, colour in [(looks.MARGIN + 10, red), (sheet.width // 2 + looks.MARGIN, blue)]:
        for x, y, above in [
            (left, desk + 10, colour),
            (left, phone + 10, colour),
            (left + dark, phone + 10, black),
        ]:
            assert sheet.getpixel((x, y)) == pytest.approx(above, abs=40)
            assert sheet.getpixel((x, y + looks.ABOVE)) == pytest.approx(green, abs=40)

    page = (tmp_path / "README.md").read_text()
    assert "![Its place, before and after](far.webp)" in page
    assert page.count("a site outside any repository") == 2


def test_sheets_that_weigh_too_much_are_refused(tmp_path: Path) -> None:
    sheet = tmp_path / "a.webp"
    sheet.write_bytes(bytes(looks.MOST))
    looks.require_light([sheet])
    with pytest.raises(ValueError, match="may have"):
        looks.require_light([sheet, sheet])


def test_the_page_of_looks_shows_every_sheet_that_is_stored() -> None:
    sheets = list(looks.LOOKS.glob("*.webp"))
    shown = re.findall(r"\((\S+\.webp)\)", (looks.LOOKS / "README.md").read_text())
    assert shown == [f"{view.name}.webp" for view in looks.VIEWS]
    assert sorted(shown) == sorted(sheet.name for sheet in sheets)
    looks.require_light(sheets)
