"""What the configurations of released models say about positions, for the pictures of `08-long-context`.

Excerpts of each `config.json`, as far as positions go. Most were quoted in the places that
`tests/rotated/published.json` names, and a test holds them against it. Kimi Linear's list of layers and
Command R7B's base are from public code that loads these models.
"""

from __future__ import annotations

from typing import Any

YARN = {"rope_type": "yarn", "beta_fast": 32.0, "beta_slow": 1.0}
LLAMA3 = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}

RELEASED: dict[str, tuple[str, dict[str, Any]]] = {
    "Llama 4": (  # silent on layers without RoPE and on louder queries: there the class's defaults hold
        "meta-llama/Llama-4-Maverick-17B-128E-Instruct",
        {
            "model_type": "llama4_text",
            "num_hidden_layers": 48,
            "head_dim": 128,
            "rope_theta": 500000.0,
            "attention_chunk_size": 8192,
        },
    ),
    "SmolLM3": (
        "HuggingFaceTB/SmolLM3-3B",
        {
            "model_type": "smollm3",
            "num_hidden_layers": 36,
            "head_dim": 128,
            "rope_theta": 5000000.0,
            "no_rope_layers": [1, 1, 1, 0] * 9,
        },
    ),
    "Cohere 2": (
        "CohereForAI/c4ai-command-r7b-12-2024",
        {
            "model_type": "cohere2",
            "num_hidden_layers": 32,
            "head_dim": 128,
            "rope_theta": 50000.0,
            "sliding_window": 4096,
        },
    ),
    "EXAONE 4": (
        "LGAI-EXAONE/EXAONE-4.0-32B",
        {
            "model_type": "exaone4",
            "num_hidden_layers": 64,
            "head_dim": 128,
            "rope_theta": 1000000,
            "rope_scaling": {**LLAMA3, "factor": 16.0, "original_max_position_embeddings": 8192},
            "sliding_window": 4096,
            "sliding_window_pattern": "LLLG",
        },
    ),
    "Kimi Linear": (
        "moonshotai/Kimi-Linear-48B-A3B-Instruct",
        {
            "model_type": "kimi_linear",
            "num_hidden_layers": 27,
            "linear_attn_config": {
                "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
                "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
            },
        },
    ),
    "Gemma 3": (
        "google/gemma-3-4b-it",
        {
            "model_type": "gemma3_text",
            "num_hidden_layers": 34,
            "rope_scaling": {"rope_type": "linear", "factor": 8.0},
            "sliding_window": 1024,
        },
    ),
    "Gemma 4": (
        "google/gemma-4-26B-A4B",
        {
            "model_type": "gemma4_text",
            "num_hidden_layers": 30,
            "head_dim": 256,
            "global_head_dim": 512,
            "rope_parameters": {
                "full_attention": {
                    "rope_type": "proportional",
                    "rope_theta": 1000000.0,
                    "partial_rotary_factor": 0.25,
                },
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            },
            "sliding_window": 1024,
        },
    ),
    "Qwen3-Next": (
        "Qwen/Qwen3-Next-80B-A3B-Thinking",
        {
            "model_type": "qwen3_next",
            "num_hidden_layers": 48,
            "head_dim": 256,
            "rope_theta": 10000000,
            "partial_rotary_factor": 0.25,
            "full_attention_interval": 4,
        },
    ),
    "MiMo-V2": (
        "XiaomiMiMo/MiMo-V2-Flash",
        {
            "model_type": "mimo_v2_flash",
            "num_hidden_layers": 48,
            "head_dim": 192,
            "swa_head_dim": 192,
            "rope_theta": 5000000,
            "swa_rope_theta": 10000,
            "partial_rotary_factor": 0.334,
            "sliding_window": 128,
            "sliding_window_size": 128,
            "attention_chunk_size": 128,
            "hybrid_layer_pattern": [0, 1, 1, 1, 1, 0, *([1, 1, 1, 1, 1, 0] * 7)],
        },
    ),
    "gpt-oss": (
        "openai/gpt-oss-20b",
        {
            "model_type": "gpt_oss",
            "num_hidden_layers": 24,
            "head_dim": 64,
            "rope_theta": 150000,
            "rope_scaling": {
                **YARN,
                "factor": 32.0,
                "original_max_position_embeddings": 4096,
                "truncate": False,
            },
            "sliding_window": 128,
        },
    ),
    "DeepSeek-V3.2": (
        "deepseek-ai/DeepSeek-V3.2",
        {
            "model_type": "deepseek_v32",
            "num_hidden_layers": 61,
            "qk_rope_head_dim": 64,
            "rope_theta": 10000,
            "rope_scaling": {
                **YARN,
                "factor": 40,
                "original_max_position_embeddings": 4096,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
            },
        },
    ),
    "Ministral 3": (
        "mistralai/Ministral-3-3B-Instruct-2512",
        {
            "model_type": "ministral3",
            "num_hidden_layers": 26,
            "head_dim": 128,
            "rope_parameters": {
                **YARN,
                "factor": 16.0,
                "original_max_position_embeddings": 16384,
                "rope_theta": 1000000.0,
                "llama_4_scaling_beta": 0.1,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
            },
        },
    ),
}
"""By family, one of its models of 2024 to 2026, and its configuration."""
