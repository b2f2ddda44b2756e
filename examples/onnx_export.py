"""Export a small language model with RoPE, or with ALiBi, to ONNX: one file that reads texts of any length.

python examples/onnx_export.py
"""

import tempfile
from pathlib import Path

import onnx
import torch
from onnx.reference import ReferenceEvaluator

from posenc_lib.nn import Transformer


def exported(model: torch.nn.Module, folder: Path) -> onnx.ModelProto:
    """The model as ONNX; batch and length stay open."""
    open_axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", min=2, max=4096)}
    torch.onnx.export(
        model,
        (torch.zeros(2, 16, dtype=torch.int64),),
        str(folder / "model.onnx"),
        dynamo=True,
        dynamic_shapes=(open_axes,),
        input_names=["tokens"],
        output_names=["logits"],
        verbose=False,
    )
    return onnx.load(folder / "model.onnx")


def main(encoding: str = "rope") -> float:
    torch.manual_seed(0)
    model = Transformer(vocabulary=100, dim=32, layers=2, heads=4, encoding=encoding).eval()
    with tempfile.TemporaryDirectory() as name:
        reader = ReferenceEvaluator(exported(model, Path(name)))

    differences = []
    for shape in ((2, 16), (1, 5), (3, 50)):  # that of the export, shorter, and three times as long
        tokens = torch.randint(100, shape)
        with torch.no_grad():
            ours = model(tokens)
        (theirs,) = reader.run(None, {"tokens": tokens.numpy()})
        differences.append(float((ours - torch.from_numpy(theirs)).abs().max()))
    return max(differences)


if __name__ == "__main__":
    for encoding in ("rope", "alibi"):
        print(f"{encoding}: largest difference between the logits: {main(encoding):.1e}")
