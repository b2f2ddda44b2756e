"""Extend the context of a checkpoint by YaRN: write the config.json that transformers reads afterwards.

    python examples/longer_context_by_yarn.py

Others that read the same file, such as vLLM, should take the rule from it, too; try it before you serve it.
"""

import json
import tempfile
from pathlib import Path

import torch
import transformers

from posenc_lib import YaRNScaling, layers_from_config, rope_from_config


def saved_checkpoint(folder: Path) -> None:
    """Stands in for one that you have: a Qwen3 with random weights, trained to 64 positions."""
    sizes = {"vocab_size": 100, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}
    config = transformers.Qwen3Config(**sizes, **heads, max_position_embeddings=64)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)


def extend(folder: Path, factor: float) -> None:
    """Rewrite config.json: `factor` times as many positions, by YaRN."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    settings, trained = rope_from_config(config), config["max_position_embeddings"]
    assert settings.scaling is None, "these weights were trained with a rule of their own"
    config["rope_parameters"] = (config.get("rope_parameters") or {}) | {
        "rope_theta": settings.base,
        "rope_type": "yarn",
        "factor": factor,
        "original_max_position_embeddings": trained,
    }
    config["max_position_embeddings"] = int(trained * factor)
    path.write_text(json.dumps(config, indent=2))


@torch.no_grad()
def main() -> float:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        saved_checkpoint(folder)
        extend(folder, 4.0)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        read = json.loads((folder / "config.json").read_text())

    assert all(layer.rope.scaling == YaRNScaling(4.0, 64) for layer in layers_from_config(read))
    tokens = torch.randint(100, (1, 256))  # four times as many as it was trained on
    theirs = model(tokens).logits
    ours = rope_from_config(read).tables(torch.arange(256))
    model.model.rotary_emb.forward = lambda x, at: [torch.cat([half, half], -1)[at] for half in ours]
    return float((model(tokens).logits - theirs).abs().max())


if __name__ == "__main__":
    print(f"largest difference between the logits by our tables and by those of transformers: {main():.1e}")
