"""Every encoding of the library in one list: what it computes, who published it, what it costs, who uses it.

Plain data: reading the list imports neither NumPy nor torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

DOORS = ("added", "rotated", "biased")


@dataclass(frozen=True)
class Encoding:
    """One encoding, as the catalogue has it.

    Attributes:
        name: what `posenc_lib.nn.Transformer(encoding=...)` calls it; a scaling rule of RoPE is
            "rope-" and the rule, which has numbers of its own and goes into `posenc_lib.nn.Rotary`.
        title: its name in prose.
        doors: through which of "added", "rotated" and "biased" it enters attention; () for none.
        formula: what it computes, in plain text.
        latex: the same in LaTeX.
        parameters: how many numbers are learned, as a formula in the symbols of `SYMBOLS`. For one layer
            where the source gives every layer its own.
        year: of the first publication.
        paper: who published it, and where.
        arxiv: the paper's arXiv identifier, or None where it has none.
        key: its entry in the book's list of references, or None where no paper describes it.
        extrapolates_by_design: whether the source presents it as reading longer texts than a model was
            trained on, without training at the new length, and shows that it does.
        because: the reason for that yes or no, in a few words.
        used_by: models that have it; () where we know of no published checkpoint.
        functions: where the library has it.
        module: its class in `posenc_lib.nn`.
        relative: whether scores stay as they are when all positions move by the same number.
        causal_only: whether it is defined for causal attention alone.
        by_length: whether a model that takes it by name must say how long sequences are.
        ends: whether it has a last position.
    """

    name: str
    title: str
    doors: tuple[str, ...]
    formula: str
    latex: str
    parameters: str
    year: int
    paper: str
    arxiv: str | None
    key: str | None
    extrapolates_by_design: bool
    because: str
    used_by: tuple[str, ...]
    functions: tuple[str, ...]
    module: str
    relative: bool = False
    causal_only: bool = False
    by_length: bool = False
    ends: bool = False

    @property
    def learns(self) -> bool:
        """Whether any number of it is learned."""
        return self.parameters != "0"

    @property
    def url(self) -> str | None:
        """The paper on arXiv."""
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else None

    def __str__(self) -> str:
        answer = "yes" if self.extrapolates_by_design else "no"
        lines = {
            "door": " and ".join(self.doors) or "none",
            "formula": self.formula,
            "learned": self.parameters,
            "paper": self.paper + (f", arXiv {self.arxiv}" if self.arxiv else ""),
            "extrapolates by design": f"{answer}: {self.because}",
            "used by": ", ".join(self.used_by) or "no published checkpoint that we know of",
            "functions": ", ".join(self.functions),
            "module": self.module,
        }
        return f"{self.name}: {self.title}\n" + "\n".join(f"  {name}: {text}" for name, text in lines.items())


class Catalogue(tuple[Encoding, ...]):
    """A tuple of encodings that prints as a table, and renders as one in a notebook."""

    __slots__ = ()

    def named(self, name: str) -> Encoding:
        """The encoding of that name; ValueError names the nearest where there is none."""
        for each in self:
            if each.name == name:
                return each
        import difflib

        names = [each.name for each in self]
        near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.4) or names
        raise ValueError(f"there is no encoding {name!r}; did you mean {' or '.join(map(repr, near))}?")

    def through(self, door: str) -> Catalogue:
        """The encodings that enter through that door."""
        if door not in DOORS:
            raise ValueError(f"door={door!r} is unknown; choose one of {', '.join(map(repr, DOORS))}")
        return Catalogue(each for each in self if door in each.doors)

    def __str__(self) -> str:
        rows = [("name", "door", "year", "learned numbers", "extrapolates by design", "first function")]
        rows += [
            (
                each.name,
                "+".join(each.doors) or "none",
                str(each.year),
                each.parameters,
                "yes" if each.extrapolates_by_design else "no",
                each.functions[0].removeprefix("posenc_lib."),
            )
            for each in self
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        groups = ((), *((door,) for door in DOORS))
        body = "".join(_group(doors, [each for each in self if each.doors == doors]) for doors in groups)
        note = "; ".join(f"{escape(symbol)}: {escape(meaning)}" for symbol, meaning in SYMBOLS.items())
        return (
            '<figure class="posenc-figure posenc-catalogue" style="overflow-x:auto">'
            '<table style="width:100%;font-size:.9em;text-align:left;border-collapse:collapse">'
            f"{body}</table><p><small>Learned numbers in {note}.</small></p></figure>"
        )


def catalogue() -> Catalogue:
    """Every encoding of the library, by door.

    Returns:
        A tuple of `Encoding`. It prints as a table and renders as one in a notebook; `named(name)`
        picks one, `through(door)` those of one door.

    Example:
        >>> [each.name for each in catalogue().through("added")][:5]
        ['sinusoidal', 'learned', 'hybrid', 'fourier', 'grid']
        >>> catalogue().named("alibi").year
        2021
        >>> [each.name for each in catalogue().through("biased") if each.parameters == "0"]
        ['alibi', 'sandwich', 'self-extend', 'dual-chunk']
    """
    return _CATALOGUE


def _group(doors: tuple[str, ...], entries: list[Encoding]) -> str:
    """The rows of one door, under its name."""
    if not entries:
        return ""
    name = f"door {DOORS.index(doors[0]) + 1}: {doors[0]}" if doors else "all doors shut"
    head = f'<tr><th colspan="2" scope="rowgroup" style="padding:1em 0 .4em">{name}</th></tr>'
    return f"<tbody>{head}{''.join(_row(each) for each in entries)}</tbody>"


def _row(each: Encoding) -> str:
    paper = escape(each.paper)
    if each.url:
        paper = f'<a href="{escape(each.url)}">{paper}</a>'
    # In parts, so that a long formula can go on in the next line.
    parts = (rf'<span class="math">\({escape(part)}\)</span>' for part in each.latex.split(r",\ "))
    facts = {
        "learned numbers": each.parameters,
        "extrapolates by design": f"{'yes' if each.extrapolates_by_design else 'no'}: {each.because}",
        "used by": ", ".join(each.used_by) or "no published checkpoint that we know of",
    }
    listed = "".join(f"<br><strong>{name}</strong> {escape(text)}" for name, text in facts.items())
    style = "vertical-align:top;padding:.5em 1em .5em 0;border-top:1px solid rgba(128,128,128,.4)"
    return (
        f'<tr><th scope="row" style="{style};font-weight:normal;width:32%">'
        f"<strong>{escape(each.title)}</strong><br><code>{escape(each.name)}</code><br>{paper}</th>"
        f'<td style="{style}"><span title="{escape(each.formula)}">{", ".join(parts)}</span>'
        f"{listed}</td></tr>"
    )


SYMBOLS = {
    "d": "width of the model",
    "D": "width of a head",
    "H": "heads",
    "N": "rows of a table, one per position, offset or count",
    "B": "buckets",
    "k": "longest distance that has a vector of its own",
    "U": "hidden units",
    "m": "numbers that describe a node, a time or a distance",
    "K": "taps of a convolution",
    "G": "groups of columns",
}
"""What the formulas count in."""

_ROPE_FUNCTIONS = (
    "posenc_lib.rotated.apply_rotary",
    "posenc_lib.rotated.rotary_tables",
    "posenc_lib.rotated.rotate",
)


def _scaled(
    rule: str,
    title: str,
    formula: str,
    latex: str,
    *,
    scaling: str,
    paper: str,
    arxiv: str | None,
    key: str | None,
    extrapolates: bool,
    because: str,
    used_by: tuple[str, ...],
    year: int = 2023,
) -> Encoding:
    """RoPE with a rule that changes its frequencies: the rest is RoPE's."""
    return Encoding(
        name=f"rope-{rule}",
        title=title,
        doors=("rotated",),
        formula=formula,
        latex=latex,
        parameters="0",
        year=year,
        paper=paper,
        arxiv=arxiv,
        key=key,
        extrapolates_by_design=extrapolates,
        because=because,
        used_by=used_by,
        functions=(f"posenc_lib.rotated.{scaling}", *_ROPE_FUNCTIONS),
        module="posenc_lib.nn.Rotary",
        relative=True,
    )


_CATALOGUE = Catalogue(
    (
        Encoding(
            name="none",
            title="no encoding (NoPE)",
            doors=(),
            formula="s_ij = q_i·k_j / √D, nothing added",
            latex=r"s_{ij} = q_i \cdot k_j / \sqrt{D}",
            parameters="0",
            year=2019,
            paper="Irie et al. 2019; Haviv et al. 2022",
            arxiv="1905.04226",
            key="irie2019",
            extrapolates_by_design=False,
            because="nothing runs out, and nothing was made for length either",
            used_by=("every fourth layer of Llama 4 and SmolLM3", "global layers of Cohere 2"),
            functions=("posenc_lib.attention.attention",),
            module="posenc_lib.nn.NoPE",
            relative=True,
        ),
        Encoding(
            name="sinusoidal",
            title="sinusoidal",
            doors=("added",),
            formula="x_p + (sin pω_i, cos pω_i), ω_i = base^(-2i/d)",
            latex=r"x_p + (\sin p\omega_i, \cos p\omega_i),\ \omega_i = b^{-2i/d}",
            parameters="0",
            year=2017,
            paper="Vaswani et al. 2017",
            arxiv="1706.03762",
            key="vaswani2017",
            extrapolates_by_design=False,
            because="its paper hopes for it; Press et al. 2022 do not find it",
            used_by=("the first Transformer", "Marian", "Pegasus", "M2M100 and NLLB", "Whisper's encoder"),
            functions=(
                "posenc_lib.added.sinusoidal",
                "posenc_lib.added.shift_matrix",
                "posenc_lib.added.similarity",
            ),
            module="posenc_lib.nn.Sinusoidal",
        ),
        Encoding(
            name="learned",
            title="learned table",
            doors=("added",),
            formula="x_p + T[p]",
            latex=r"x_p + T_p",
            parameters="N·d",
            year=2017,
            paper="Gehring et al. 2017",
            arxiv="1705.03122",
            key="gehring2017",
            extrapolates_by_design=False,
            because="there is no row past the last",
            used_by=("BERT", "RoBERTa", "GPT-2", "OPT", "BART", "ViT", "CLIP", "Whisper's decoder"),
            functions=("posenc_lib.added.learned",),
            module="posenc_lib.nn.Learned",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="hybrid",
            title="sinusoidal and learned",
            doors=("added",),
            formula="x_p + PE(p) + T[p]",
            latex=r"x_p + PE(p) + T_p",
            parameters="N·d",
            year=2017,
            paper="the sum of Vaswani et al. 2017 and Gehring et al. 2017",
            arxiv=None,
            key="vaswani2017",
            extrapolates_by_design=False,
            because="past the table the sinusoidal part continues alone",
            used_by=(),
            functions=("posenc_lib.added.hybrid",),
            module="posenc_lib.nn.Hybrid",
            by_length=True,
        ),
        Encoding(
            name="fourier",
            title="Fourier features",
            doors=("added",),
            formula="x_v + (sin 2πBv, cos 2πBv), B random or powers of two",
            latex=r"x_v + (\sin 2\pi Bv, \cos 2\pi Bv)",
            parameters="0",
            year=2020,
            paper="Tancik et al. 2020; powers of two: Mildenhall et al. 2020",
            arxiv="2006.10739",
            key="tancik2020",
            extrapolates_by_design=False,
            because="made for detail inside the range that was seen",
            used_by=("NeRF (powers of two)", "SAM's prompt encoder (random)"),
            functions=(
                "posenc_lib.added.fourier_features",
                "posenc_lib.added.gaussian_frequencies",
                "posenc_lib.added.power_of_two_frequencies",
            ),
            module="posenc_lib.nn.FourierFeatures",
        ),
        Encoding(
            name="grid",
            title="sinusoidal on 2-D and 3-D grids",
            doors=("added",),
            formula="x_rc + [PE(c), PE(r)], each of width d/2; on a volume also PE(z)",
            latex=r"x_{rc} + [PE(c), PE(r)]",
            parameters="0",
            year=2018,
            paper="Parmar et al. 2018; columns as in He et al. 2022 (MAE)",
            arxiv="1802.05751",
            key="parmar2018",
            extrapolates_by_design=False,
            because="sinusoidal along each axis",
            used_by=("MAE", "DETR"),
            functions=("posenc_lib.added.grid_sinusoidal",),
            module="posenc_lib.nn.Grid",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="learned-grid",
            title="learned 2-D table",
            doors=("added",),
            formula="x_rc + T[r, c], the table resampled as a picture for another grid",
            latex=r"x_{rc} + T_{r,\,c}",
            parameters="N·d",
            year=2020,
            paper="Dosovitskiy et al. 2021 (ViT)",
            arxiv="2010.11929",
            key="dosovitskiy2021",
            extrapolates_by_design=False,
            because="larger images get the same table, stretched, and models are tuned to it",
            used_by=("ViT", "DeiT", "CLIP's image encoder", "DINOv2", "SigLIP 1 and 2"),
            functions=("posenc_lib.added.resample_grid", "posenc_lib.added.learned"),
            module="posenc_lib.nn.LearnedGrid",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="laplacian",
            title="eigenvectors of a graph's Laplacian",
            doors=("added",),
            formula="x_n + W Σ_± φ(±v(n)), v the slow waves of L = I - D^-1/2 A D^-1/2",
            latex=r"x_n + W [\phi(v_n) + \phi(-v_n)],\ L v = \lambda v",
            parameters="2·U + m·U·d + d",
            year=2020,
            paper="Dwivedi and Bresson 2020; signs: Lim et al. 2023 (SignNet)",
            arxiv="2012.09699",
            key="dwivedi2020",
            extrapolates_by_design=False,
            because="other graphs have other waves, and their number is fixed",
            used_by=(),
            functions=(
                "posenc_lib.added.laplacian_eigenvectors",
                "posenc_lib.added.eigenspaces",
                "posenc_lib.added.flip_signs",
                "posenc_lib.added.sign_invariant",
            ),
            module="posenc_lib.nn.LaplacianEigenvectors",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="random-walk",
            title="random walks that come back",
            doors=("added",),
            formula="x_n + W (P_nn, (P²)_nn, ..., (P^m)_nn), P = D^-1 A",
            latex=r"x_n + W (P_{nn}, (P^2)_{nn}, \ldots)",
            parameters="m·d + d",
            year=2021,
            paper="Dwivedi et al. 2022",
            arxiv="2110.07875",
            key="dwivedi2022",
            extrapolates_by_design=False,
            because="a node's surroundings look the same in a larger graph, but no source measures length",
            used_by=("GraphGPS",),
            functions=("posenc_lib.added.return_probabilities",),
            module="posenc_lib.nn.RandomWalk",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="tree",
            title="paths in a tree",
            doors=("added",),
            formula="x_n + √((1-p²)d/2) (e_1, p e_2, p² e_3, ...), e_i which child the i-th step up was",
            latex=r"x_n + \sqrt{(1-p^2) d/2}\, (e_1, p\, e_2, p^2 e_3, \ldots)",
            parameters="d // m",
            year=2019,
            paper="Shiv and Quirk 2019",
            arxiv=None,
            key="shiv2019",
            extrapolates_by_design=False,
            because="deeper nodes forget the top of the tree",
            used_by=(),
            functions=("posenc_lib.added.tree_paths", "posenc_lib.added.tree_features"),
            module="posenc_lib.nn.TreePaths",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="calendar",
            title="circles of the calendar",
            doors=("added",),
            formula="x_t + W (sin 2πf, cos 2πf) for f the share of the day, week, year that has passed",
            latex=r"x_t + W (\sin 2\pi f_t, \cos 2\pi f_t)",
            parameters="m·d + d",
            year=2020,
            paper="known for long; as a Transformer's encoding in Zhou et al. 2021 (Informer)",
            arxiv="2012.07436",
            key="zhou2021",
            extrapolates_by_design=True,
            because="every day and every week goes round the same circle",
            used_by=("Informer and Autoformer, as numbers in place of circles",),
            functions=("posenc_lib.added.calendar_features", "posenc_lib.added.calendar_phases"),
            module="posenc_lib.nn.Calendar",
        ),
        Encoding(
            name="time2vec",
            title="Time2Vec",
            doors=("added",),
            formula="x_t + (ω_0 t + φ_0, sin(ω_1 t + φ_1), ...), all learned",
            latex=r"x_t + (\omega_0 t + \varphi_0, \sin(\omega_i t + \varphi_i))",
            parameters="2·d",
            year=2019,
            paper="Kazemi et al. 2019; in attention: Shukla and Marlin 2021 (mTAN)",
            arxiv="1907.05321",
            key="kazemi2019",
            extrapolates_by_design=False,
            because="the line reaches values that training never showed",
            used_by=(),
            functions=("posenc_lib.added.time2vec",),
            module="posenc_lib.nn.Time2Vec",
        ),
        Encoding(
            name="convolution",
            title="convolution as position",
            doors=("added",),
            formula="x_p + GELU(Σ_k W_k x_(p+k) + b), W grouped and normalised tap by tap",
            latex=r"x_p + \mathrm{GELU}\big(\textstyle\sum_k W_k x_{p+k} + b\big)",
            parameters="K·(d·d/G + 1) + d",
            year=2020,
            paper="Baevski et al. 2020 (wav2vec 2.0)",
            arxiv="2006.11477",
            key="baevski2020",
            extrapolates_by_design=False,
            because="nothing runs out; its paper does not measure longer sound",
            used_by=("wav2vec 2.0", "HuBERT", "WavLM"),
            functions=("posenc_lib.added.convolution_positions", "posenc_lib.added.convolution_weight"),
            module="posenc_lib.nn.ConvolutionPositions",
            relative=True,
        ),
        Encoding(
            name="rope",
            title="RoPE",
            doors=("rotated",),
            formula="R(i)q · R(j)k, pair t turned by position·ω_t, ω_t = base^(-2t/D)",
            latex=r"R_i q \cdot R_j k,\ \theta_t = p\, b^{-2t/D}",
            parameters="0",
            year=2021,
            paper="Su et al. 2021",
            arxiv="2104.09864",
            key="su2021",
            extrapolates_by_design=False,
            because="longer texts hold offsets that training never showed",
            used_by=("LLaMA 1 to 3", "Mistral", "Qwen", "Gemma", "GPT-NeoX and Pythia", "GPT-J", "Falcon"),
            functions=_ROPE_FUNCTIONS,
            module="posenc_lib.nn.Rotary",
            relative=True,
        ),
        _scaled(
            "linear",
            "RoPE, position interpolation (PI)",
            "ω'_t = ω_t / s",
            r"\omega'_t = \omega_t / s",
            scaling="LinearScaling",
            paper="Chen et al. 2023",
            arxiv="2306.15595",
            key="chen2023",
            extrapolates=False,
            because="the model is tuned at the new length",
            used_by=("global layers of Gemma 3 from 4B on",),
        ),
        _scaled(
            "ntk",
            "RoPE, NTK-aware",
            "base' = base · s^(D/(D-2))",
            r"b' = b\, s^{D/(D-2)}",
            scaling="NTKScaling",
            paper="bloc97 2023, as in Peng et al. 2023, section 3.1",
            arxiv="2309.00071",
            key="peng2023",
            extrapolates=True,
            because="proposed for LLaMA without tuning, to somewhat less than s times the length",
            used_by=("Hunyuan's dense models",),
        ),
        _scaled(
            "dynamic-ntk",
            "RoPE, dynamic NTK",
            "NTK-aware, s from the length that is read",
            r"b' = b\, s(n)^{D/(D-2)}",
            scaling="DynamicNTKScaling",
            paper="emozilla 2023, as in Peng et al. 2023, section 3.3",
            arxiv="2309.00071",
            key="peng2023",
            extrapolates=True,
            because="proposed for LLaMA without tuning; short texts stay as they were",
            used_by=("InternLM 2.5",),
        ),
        _scaled(
            "ntk-by-parts",
            "RoPE, NTK by parts",
            "ω'_t = (1-γ)ω_t/s + γω_t, γ by the turns within the original length",
            r"\omega'_t = (1-\gamma_t)\,\omega_t/s + \gamma_t\,\omega_t",
            scaling="NTKByPartsScaling",
            paper="Peng et al. 2023, section 3.2",
            arxiv="2309.00071",
            key="peng2023",
            extrapolates=True,
            because="reads past its training with and without tuning",
            used_by=("Llama 3.1, under another name",),
        ),
        _scaled(
            "yarn",
            "RoPE, YaRN",
            "NTK by parts, tables times 0.1 ln s + 1",
            r"\text{by parts},\ \cos, \sin \cdot (0.1 \ln s + 1)",
            scaling="YaRNScaling",
            paper="Peng et al. 2023",
            arxiv="2309.00071",
            key="peng2023",
            extrapolates=True,
            because="reads past the length it was tuned at",
            used_by=("DeepSeek-V2 and V3", "gpt-oss"),
        ),
        _scaled(
            "llama3",
            "RoPE, Llama 3.1",
            "NTK by parts, γ from 1 to 4 turns",
            r"\text{by parts},\ \gamma\ \text{from 1 to 4 turns}",
            scaling="Llama3Scaling",
            paper="meta-llama/llama-models 2024; the models: Grattafiori et al. 2024",
            arxiv="2407.21783",
            key="grattafiori2024",
            extrapolates=False,
            because="the models are trained at the long length",
            used_by=("Llama 3.1, 3.2 and 3.3",),
            year=2024,
        ),
        _scaled(
            "longrope",
            "RoPE, LongRoPE",
            "ω'_t = ω_t / λ_t, λ_t searched, short and long lists",
            r"\omega'_t = \omega_t / \lambda_t",
            scaling="LongRoPEScaling",
            paper="Ding et al. 2024",
            arxiv="2402.13753",
            key="ding2024",
            extrapolates=True,
            because="8 times the length without tuning, far more with it",
            used_by=("Phi-3 and Phi-3.5 with 128k",),
            year=2024,
        ),
        _scaled(
            "proportional",
            "RoPE, proportional",
            "the fastest pairs turn, the others stand still",
            r"\omega'_t = \omega_t\ \text{or}\ 0",
            scaling="ProportionalScaling",
            paper="Barbero et al. 2024 (p-RoPE), section 6.1",
            arxiv="2410.06205",
            key="barbero2024",
            extrapolates=False,
            because="pairs that stand still see no new angle, but its paper does not measure longer texts",
            used_by=("full-attention layers of Gemma 4",),
            year=2024,
        ),
        Encoding(
            name="axial",
            title="axial RoPE",
            doors=("rotated",),
            formula="pairs shared among the axes: some turn by the row, others by the column",
            latex=r"[R_{r} q_1, R_{c} q_2]",
            parameters="0",
            year=2021,
            paper="Su 2021 (kexue.fm/archives/8397); studied in Heo et al. 2024",
            arxiv="2403.13298",
            key="heo2024",
            extrapolates_by_design=False,
            because="RoPE along each axis",
            used_by=("Qwen2-VL's image encoder", "Flux"),
            functions=("posenc_lib.rotated.axial_tables", "posenc_lib.rotated.rotate"),
            module="posenc_lib.nn.AxialRotary",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="mixed",
            title="mixed RoPE",
            doors=("rotated",),
            formula="pair t turned by ω_t · (row, column), ω_t learned for each layer (RoPE-ViT: each head)",
            latex=r"\theta_t = \omega_t \cdot (r, c)",
            parameters="D",
            year=2024,
            paper="Heo et al. 2024",
            arxiv="2403.13298",
            key="heo2024",
            extrapolates_by_design=True,
            because="tested at other resolutions than in training, where it does better than tables",
            used_by=("RoPE-ViT",),
            functions=(
                "posenc_lib.rotated.mixed_tables",
                "posenc_lib.rotated.mixed_rates",
                "posenc_lib.rotated.rotate",
            ),
            module="posenc_lib.nn.MixedRotary",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="dinov3",
            title="DINOv3's axial RoPE",
            doors=("rotated",),
            formula="pairs turned by 2π c / period_t, c the row or column in [-1, 1], period_t = base^(t/n)",
            latex=r"\theta_t = 2\pi c\, b^{-t/n},\ c \in [-1, 1]",
            parameters="0",
            year=2025,
            paper="Siméoni et al. 2025",
            arxiv="2508.10104",
            key="simeoni2025",
            extrapolates_by_design=True,
            because="coordinates end at 1 at any resolution, and are rescaled at random in training",
            used_by=("DINOv3",),
            functions=(
                "posenc_lib.rotated.dinov3_tables",
                "posenc_lib.rotated.patch_coordinates",
                "posenc_lib.rotated.augment_coordinates",
            ),
            module="posenc_lib.nn.DINOv3Rotary",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="v-jepa-2",
            title="V-JEPA 2's mixing (meant as RoPE)",
            doors=("rotated",),
            formula="a cos s - b sin s, b cos t + a sin t: a pair mixed by two angles, so no rotation",
            latex=r"(a \cos s - b \sin s,\ b \cos t + a \sin t)",
            parameters="0",
            year=2025,
            paper="Assran et al. 2025",
            arxiv="2506.09985",
            key="assran2025",
            extrapolates_by_design=False,
            because="scores depend on more than offsets; it is here for the published weights",
            used_by=("V-JEPA 2",),
            functions=("posenc_lib.rotated.vjepa2_mix",),
            module="posenc_lib.nn.VJEPA2",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="mrope",
            title="multimodal RoPE (M-RoPE)",
            doors=("rotated",),
            formula="RoPE, pair t turned by time, height or width",
            latex=r"\theta_t = p_{a(t)}\, b^{-2t/D}",
            parameters="0",
            year=2024,
            paper="Wang et al. 2024",
            arxiv="2409.12191",
            key="wang2024",
            extrapolates_by_design=False,
            because="on text it is RoPE; pictures take fewer positions than tokens, so positions last longer",
            used_by=("Qwen2-VL", "Qwen2.5-VL", "Qwen3-VL"),
            functions=(
                "posenc_lib.rotated.mrope_tables",
                "posenc_lib.rotated.mrope_positions",
                "posenc_lib.rotated.rotate",
            ),
            module="posenc_lib.nn.MultimodalRotary",
            relative=True,
        ),
        Encoding(
            name="xpos",
            title="xPos",
            doors=("rotated",),
            formula="RoPE, pair t of a score times z_t^((i-j)/512)",
            latex=r"R_i q \cdot R_j k,\ \text{pair } t \text{ times } z_t^{(i-j)/512}",
            parameters="0",
            year=2022,
            paper="Sun et al. 2022",
            arxiv="2212.10554",
            key="sun2022",
            extrapolates_by_design=True,
            because="pairs fade with distance; its attention is also windowed",
            used_by=(),
            functions=("posenc_lib.rotated.xpos_tables", "posenc_lib.rotated.rotate"),
            module="posenc_lib.nn.XPos",
            relative=True,
            causal_only=True,
        ),
        Encoding(
            name="log-temperature",
            title="log-length temperature",
            doors=("rotated",),
            formula="s_ij · ln(i + 1) / ln L; Llama 4: s_ij · (1 + β ln(1 + ⌊(i + 1)/L⌋)). It turns nothing",
            latex=r"s_{ij} \ln(i+1) / \ln L",
            parameters="0",
            year=2021,
            paper="Su 2021 (kexue.fm/archives/8823)",
            arxiv=None,
            key=None,
            extrapolates_by_design=True,
            because="keeps weights as sharp with many keys as with few",
            used_by=("layers of Llama 4 without rotation", "Qwen 1", "Ministral 3"),
            functions=("posenc_lib.rotated.QueryTemperature",),
            module="posenc_lib.nn.LogTemperature",
            causal_only=True,
        ),
        Encoding(
            name="ssmax",
            title="Scalable-Softmax",
            doors=("rotated",),
            formula="s_ij · c_h ln(i + 1), c_h learned",
            latex=r"s_{ij}\, c_h \ln(i+1)",
            parameters="H",
            year=2025,
            paper="Nakanishi 2025",
            arxiv="2501.19399",
            key="nakanishi2025",
            extrapolates_by_design=True,
            because="its paper trains with it, and finds better results in long contexts",
            used_by=(),
            functions=("posenc_lib.rotated.QueryTemperature",),
            module="posenc_lib.nn.ScalableSoftmax",
            causal_only=True,
        ),
        Encoding(
            name="alibi",
            title="ALiBi",
            doors=("biased",),
            formula="s_ij - m_h |i - j|, m_h = 2^(-8h/H)",
            latex=r"s_{ij} - m_h |i - j|,\ m_h = 2^{-8h/H}",
            parameters="0",
            year=2021,
            paper="Press et al. 2022",
            arxiv="2108.12409",
            key="press2022",
            extrapolates_by_design=True,
            because="far keys count for little, at any length",
            used_by=("BLOOM", "MPT", "Falcon-RW"),
            functions=(
                "posenc_lib.biased.alibi_bias",
                "posenc_lib.biased.alibi_slopes",
                "posenc_lib.biased.alibi_attention",
                "posenc_lib.biased.alibi_columns",
                "posenc_lib.biased.alibi_score_mod",
            ),
            module="posenc_lib.nn.ALiBi",
            relative=True,
        ),
        Encoding(
            name="t5",
            title="T5's relative bias",
            doors=("biased",),
            formula="s_ij + T[bucket(j - i), h]",
            latex=r"s_{ij} + T_{\mathrm{bucket}(j-i),\,h}",
            parameters="B·H",
            year=2019,
            paper="Raffel et al. 2020",
            arxiv="1910.10683",
            key="raffel2020",
            extrapolates_by_design=False,
            because="all long distances share a bucket; its paper does not measure longer texts",
            used_by=("T5, Flan-T5 and mT5", "UMT5", "LongT5", "MPNet"),
            functions=(
                "posenc_lib.biased.t5_bias",
                "posenc_lib.biased.t5_buckets",
                "posenc_lib.biased.t5_score_mod",
            ),
            module="posenc_lib.nn.T5Bias",
            relative=True,
        ),
        Encoding(
            name="shaw",
            title="Shaw's relative keys",
            doors=("biased",),
            formula="s_ij + q_i·w_r / √D, r = clip(j - i, -k, k); optionally Σ_j a_ij w'_r on the values",
            latex=r"s_{ij} + q_i \cdot w_r / \sqrt{D},\ r = \mathrm{clip}(j-i, -k, k)",
            parameters="(2·k + 1)·D",
            year=2018,
            paper="Shaw et al. 2018",
            arxiv="1803.02155",
            key="shaw2018",
            extrapolates_by_design=False,
            because="clipping is meant to allow it; its paper does not measure it",
            used_by=("Music Transformer",),
            functions=(
                "posenc_lib.biased.shaw_bias",
                "posenc_lib.biased.shaw_values",
                "posenc_lib.biased.shaw_score_mod",
            ),
            module="posenc_lib.nn.Shaw",
            relative=True,
        ),
        Encoding(
            name="transformer-xl",
            title="Transformer-XL's relative attention",
            doors=("biased",),
            formula="s_ij + (u·k_j + (q_i + v)·W PE(i - j)) / √D",
            latex=r"s_{ij} + (u \cdot k_j + (q_i + v) \cdot W\, PE(i-j)) / \sqrt{D}",
            parameters="d·d + 2·d",
            year=2019,
            paper="Dai et al. 2019",
            arxiv="1901.02860",
            key="dai2019",
            extrapolates_by_design=True,
            because="tested with attention longer than trained, since PE(i - j) has no last row",
            used_by=("Transformer-XL", "XLNet"),
            functions=(
                "posenc_lib.biased.transformer_xl_bias",
                "posenc_lib.biased.relative_shift",
                "posenc_lib.biased.transformer_xl_score_mod",
            ),
            module="posenc_lib.nn.TransformerXL",
            relative=True,
        ),
        Encoding(
            name="enformer",
            title="Enformer's relative bases",
            doors=("biased",),
            formula="s_ij + (u·k_j + (q_i + v)·W f(j - i)) / √D, f exponentials, windows and bumps",
            latex=r"s_{ij} + (u \cdot k_j + (q_i + v) \cdot W f(j-i)) / \sqrt{D}",
            parameters="m·d + 2·d",
            year=2021,
            paper="Avsec et al. 2021",
            arxiv=None,
            key="avsec2021",
            extrapolates_by_design=False,
            because="its bases end at the length that it was made for",
            used_by=("Enformer", "Borzoi (windows alone)"),
            functions=(
                "posenc_lib.biased.enformer_features",
                "posenc_lib.biased.transformer_xl_bias",
            ),
            module="posenc_lib.nn.Enformer",
            relative=True,
        ),
        Encoding(
            name="kerple",
            title="KERPLE",
            doors=("biased",),
            formula="s_ij - r1_h log(1 + r2_h |i - j|), or - r1_h |i - j|^r2_h",
            latex=r"s_{ij} - r_{1} \log(1 + r_{2} |i-j|)",
            parameters="2·H",
            year=2022,
            paper="Chi et al. 2022",
            arxiv="2205.09921",
            key="chi2022",
            extrapolates_by_design=True,
            because="ALiBi's idea, with a learned penalty",
            used_by=(),
            functions=("posenc_lib.biased.kerple_bias", "posenc_lib.biased.kerple_score_mod"),
            module="posenc_lib.nn.KERPLE",
            relative=True,
        ),
        Encoding(
            name="fire",
            title="FIRE",
            doors=("biased",),
            formula="s_ij + f_h(ψ(i - j) / ψ(max(L, i))), ψ(x) = log(1 + cx)",
            latex=r"s_{ij} + f_h\big(\psi(i-j) / \psi(\max(L, i))\big)",
            parameters="(H + 2)·U + H + 2",
            year=2023,
            paper="Li et al. 2024",
            arxiv="2310.04418",
            key="li2024",
            extrapolates_by_design=True,
            because="longer texts are squeezed into the range that was seen",
            used_by=(),
            functions=(
                "posenc_lib.biased.fire_bias",
                "posenc_lib.biased.fire_distances",
                "posenc_lib.biased.fire_score_mod",
            ),
            module="posenc_lib.nn.FIRE",
        ),
        Encoding(
            name="sandwich",
            title="Sandwich",
            doors=("biased",),
            formula="s_ij + PE(i)·PE(j) · H/(8h)",
            latex=r"s_{ij} + \tfrac{H}{8h}\, PE(i) \cdot PE(j)",
            parameters="0",
            year=2022,
            paper="Chi et al. 2023",
            arxiv="2212.10356",
            key="chi2023",
            extrapolates_by_design=True,
            because="far keys count for little, at any length",
            used_by=(),
            functions=("posenc_lib.biased.sandwich_bias", "posenc_lib.biased.sandwich_score_mod"),
            module="posenc_lib.nn.Sandwich",
            relative=True,
        ),
        Encoding(
            name="cope",
            title="CoPE",
            doors=("biased",),
            formula="s_ij + q_i·T[p_ij] / √D, p_ij = Σ_{t=j..i} σ(q_i·k_t / √D)",
            latex=r"s_{ij} + q_i \cdot T_p / \sqrt{D},\ p = \sum_{t=j}^{i} \sigma(q_i \cdot k_t / \sqrt{D})",
            parameters="N·D",
            year=2024,
            paper="Golovneva et al. 2024",
            arxiv="2405.18719",
            key="golovneva2024",
            extrapolates_by_design=True,
            because="it counts what matters, and no further than its table reaches",
            used_by=(),
            functions=("posenc_lib.biased.cope_bias",),
            module="posenc_lib.nn.CoPE",
            relative=True,
            causal_only=True,
        ),
        Encoding(
            name="data-dependent-alibi",
            title="data-dependent ALiBi",
            doors=("biased",),
            formula="s_ij + Σ_{t=j+1..i} log σ(w_h·k_t + b_h), a penalty from each token between",
            latex=r"s_{ij} + \sum_{t=j+1}^{i} \log \sigma(w_h \cdot k_t + b_h)",
            parameters="(D + 1)·H",
            year=2025,
            paper="x-transformers, after Lin et al. 2025",
            arxiv="2503.02130",
            key="lin2025",
            extrapolates_by_design=True,
            because="as ALiBi: what is far back fades, by gates that are learned",
            used_by=(),
            functions=(
                "posenc_lib.biased.data_dependent_alibi",
                "posenc_lib.biased.per_row_alibi",
            ),
            module="posenc_lib.nn.DataDependentALiBi",
            relative=True,
        ),
        Encoding(
            name="fox",
            title="FoX",
            doors=("biased",),
            formula="s_ij + Σ_{t=j+1..i} log f_t, f_t = σ(w_h·k_t + b_h), in the paper of x_t",
            latex=r"s_{ij} + \sum_{t=j+1}^{i} \log f_t,\ f_t = \sigma(w_h \cdot k_t + b_h)",
            parameters="(D + 1)·H",
            year=2025,
            paper="Lin et al. 2025",
            arxiv="2503.02130",
            key="lin2025",
            extrapolates_by_design=True,
            because="what is far back fades, by gates that are learned; tested beyond the trained length",
            used_by=(),
            functions=("posenc_lib.biased.fox_bias",),
            module="posenc_lib.nn.FoX",
            relative=True,
            causal_only=True,
        ),
        Encoding(
            name="path",
            title="PaTH",
            doors=("biased",),
            formula="q_i·H_i···H_{j+1} k_j / √D, H_t = I - β_t w_t w_tᵀ read from token t",
            latex=r"q_i \cdot H_i \cdots H_{j+1} k_j / \sqrt{D},\ H_t = I - \beta_t w_t w_t^\top",
            parameters="(D·D + D + 1)·H",
            year=2025,
            paper="Yang et al. 2025",
            arxiv="2505.16381",
            key="yang2025path",
            extrapolates_by_design=True,
            because="its paper reads further than trained; at extreme lengths that ends (Godavarti 2026)",
            used_by=(),
            functions=("posenc_lib.biased.path_bias", "posenc_lib.biased.path_products"),
            module="posenc_lib.nn.PaTH",
            relative=True,
            causal_only=True,
        ),
        Encoding(
            name="pope",
            title="PoPE, polar coordinates",
            doors=("biased",),
            formula="Σ_c μ(q_c) μ(k_c) cos((j - i)ω_c + δ_c) / √D, μ = softplus, ω_c = base^(-c/D)",
            latex=r"\sum_c \mu(q_c)\, \mu(k_c) \cos((j-i)\, b^{-c/D} + \delta_c) / \sqrt{D}",
            parameters="D·H",
            year=2025,
            paper="Gopalakrishnan et al. 2025",
            arxiv="2509.10534",
            key="gopalakrishnan2025",
            extrapolates_by_design=True,
            because="its paper reads longer texts than it trained on, without tuning",
            used_by=(),
            functions=("posenc_lib.biased.pope_bias", "posenc_lib.biased.pope_vectors"),
            module="posenc_lib.nn.PoPE",
            relative=True,
        ),
        Encoding(
            name="self-extend",
            title="RoPE, Self-Extend",
            doors=("biased",),
            formula="RoPE at distance i - j if below w, else ⌊i/G⌋ - ⌊j/G⌋ + w - ⌊w/G⌋",
            latex=r"\lfloor i/G \rfloor - \lfloor j/G \rfloor + w - \lfloor w/G \rfloor,\ i-j \geq w",
            parameters="0",
            year=2024,
            paper="Jin et al. 2024",
            arxiv="2401.01325",
            key="jin2024",
            extrapolates_by_design=True,
            because="all distances are ones that training showed, without tuning",
            used_by=(),
            functions=("posenc_lib.biased.self_extend_bias", "posenc_lib.biased.self_extend_distances"),
            module="posenc_lib.nn.SelfExtend",
        ),
        Encoding(
            name="dual-chunk",
            title="RoPE, dual chunk attention",
            doors=("biased",),
            formula="RoPE, keys at j mod s; queries at i mod s, or further for earlier chunks, to s + w - 1",
            latex=r"k \text{ at } j \bmod s,\ q \text{ at } i \bmod s\ \text{to}\ s + w - 1",
            parameters="0",
            year=2024,
            paper="An et al. 2024",
            arxiv="2402.17463",
            key="an2024",
            extrapolates_by_design=True,
            because="no distance above the trained length, without tuning",
            used_by=("Qwen2.5-1M", "ChunkLlama"),
            functions=(
                "posenc_lib.biased.dual_chunk_bias",
                "posenc_lib.biased.dual_chunk_distances",
                "posenc_lib.biased.streaming_distances",
            ),
            module="posenc_lib.nn.DualChunk",
            causal_only=True,
        ),
        Encoding(
            name="deberta",
            title="DeBERTa's disentangled attention",
            doors=("biased",),
            formula="(q_i·k_j + q_i·K_r + k_j·Q_r) / √(3D), r the bucket of i - j",
            latex=r"(q_i \cdot k_j + q_i \cdot K_r + k_j \cdot Q_r) / \sqrt{3D},\ r = \mathrm{bucket}(i-j)",
            parameters="(N + 2·d + 1)·d",
            year=2020,
            paper="He et al. 2021 (DeBERTa)",
            arxiv="2006.03654",
            key="he2021",
            extrapolates_by_design=False,
            because="far buckets are wide, and all beyond max_distance share the last",
            used_by=("DeBERTa 1 to 3", "mDeBERTa"),
            functions=("posenc_lib.biased.deberta_bias", "posenc_lib.biased.deberta_buckets"),
            module="posenc_lib.nn.DeBERTa",
            relative=True,
        ),
        Encoding(
            name="swin",
            title="Swin's and BEiT's 2-D table of offsets",
            doors=("biased",),
            formula="s_ij + T[down(i, j), across(i, j), head], offsets of two patches in a window",
            latex=r"s_{ij} + T_{r_i - r_j,\, c_i - c_j}",
            parameters="N·H",
            year=2021,
            paper="Liu et al. 2021; with a class token: Bao et al. 2022 (BEiT)",
            arxiv="2103.14030",
            key="liu2021",
            extrapolates_by_design=False,
            because="no row for an offset beyond the window; larger ones resample the table",
            used_by=("Swin", "BEiT", "data2vec's image encoder", "MaxViT"),
            functions=("posenc_lib.biased.swin_bias", "posenc_lib.biased.swin_index"),
            module="posenc_lib.nn.SwinBias",
            by_length=True,
            ends=True,
        ),
        Encoding(
            name="swin-v2",
            title="Swin V2's log-spaced bias",
            doors=("biased",),
            formula="s_ij + 16 σ(f_h(x)), x = sign(Δ) log(1 + |Δ|) of the offset Δ of two patches",
            latex=r"s_{ij} + 16\, \sigma(f_h(x)),\ x = \mathrm{sign}(\Delta) \log(1 + |\Delta|)",
            parameters="(H + 3)·U",
            year=2021,
            paper="Liu et al. 2022 (Swin V2)",
            arxiv="2111.09883",
            key="liu2022",
            extrapolates_by_design=True,
            because="made to carry a small window's weights to a larger one",
            used_by=("Swin V2",),
            functions=("posenc_lib.biased.swin_v2_bias", "posenc_lib.biased.swin_v2_coordinates"),
            module="posenc_lib.nn.SwinV2Bias",
            by_length=True,
            ends=True,
        ),
    )
)
