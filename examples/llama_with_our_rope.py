"""Swap the RoPE of a transformers Llama for posenc_lib's, and get the same logits.

python examples/llama_with_our_rope.py
"""

import torch
import transformers
from transformers.models.llama import modeling_llama

from posenc_lib import rope_from_config, rotate


def main() -> float:
    config = transformers.LlamaConfig(
        vocab_size=100,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 500_000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32,
        },
    )
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()  # random weights: nothing to fetch
    tokens = torch.randint(100, (2, 60))
    with torch.no_grad():
        theirs = model(tokens).logits

    settings = rope_from_config(config)  # base, scaling and layout, as this family's code reads them

    class OurTables(torch.nn.Module):
        """In the place of LlamaRotaryEmbedding: it hands our tables through to the layers."""

        def forward(self, x, position_ids):
            tables = settings.tables(position_ids[:, None])  # (batch, 1, length, pairs): one for all heads
            return tables.cos, tables.sin

    def our_rotation(q, k, cos, sin, unsqueeze_dim=1):
        tables = type(settings.tables(1))(cos, sin)
        return rotate(q, tables, layout=settings.layout), rotate(k, tables, layout=settings.layout)

    model.model.rotary_emb = OurTables()
    theirs_kept, modeling_llama.apply_rotary_pos_emb = modeling_llama.apply_rotary_pos_emb, our_rotation
    try:
        with torch.no_grad():
            ours = model(tokens).logits
    finally:
        modeling_llama.apply_rotary_pos_emb = theirs_kept
    return float((ours - theirs).abs().max())


if __name__ == "__main__":
    print(f"largest difference between the logits: {main():.1e}")
