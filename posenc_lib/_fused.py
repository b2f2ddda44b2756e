"""PyTorch's fused attention with a mask or a bias, on every device."""

from __future__ import annotations

import math
from typing import Any

import torch

from posenc_lib._arrays import surely


def fused_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, **options: Any
) -> torch.Tensor:
    """`torch.nn.functional.scaled_dot_product_attention`; the mask holds booleans, or numbers of any width.

    A query that may look at no key gets 0. In 16 bits kernels of GPUs differ on that: cuDNN's lets it look at
    all keys in torch 2.11, where it is given booleans.
    """
    attend = torch.nn.functional.scaled_dot_product_attention
    if mask is not None and mask.dtype != torch.bool:
        mask = readable(mask, q.dtype, kind_of_device(q))
    if mask is None or kind_of_device(q) == "cpu" or q.element_size() != 2:
        return attend(q, k, v, attn_mask=mask, **options)
    if mask.dtype == torch.bool:
        blind = ~mask.any(-1, keepdim=True)
        mask = mask | blind  # so that no kernel can make NaN of it, on the way back either
    else:
        blind = (mask == -math.inf).all(-1, keepdim=True)
        mask = mask.masked_fill(blind, 0.0)
    return attend(q, k, v, attn_mask=mask, **options).masked_fill(blind, 0.0)


def kind_of_device(x: torch.Tensor) -> str:
    """Asked in one place, so that what a GPU is given can be tested where there is none."""
    return x.device.type


def readable(bias: torch.Tensor, dtype: torch.dtype, device_type: str) -> torch.Tensor:
    """The bias as a kernel of this kind of device reads it, beside queries of this dtype.

    A CPU's reads float32 beside 16 bits. A GPU's takes a bias of the queries' dtype alone: one kernel refuses
    another, and one takes its bits for those of 16-bit numbers. To widen queries, keys and values there would
    cost the fast kernels, and twice the memory; so the bias is rounded, as in `narrowed`.
    """
    wide = torch.promote_types(dtype, torch.float32)
    if bias.dtype == dtype or (device_type == "cpu" and bias.dtype == torch.float32):
        return bias
    if device_type == "cpu" or dtype == wide:
        return bias.to(wide)
    return narrowed(bias, dtype)


def narrowed(bias: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The bias in 16 bits, less the largest number of each row, which no softmax feels.

    So the keys that matter most have the smallest numbers, and those are rounded least. bfloat16 is off by up
    to 2^-8 of a number: ALiBi's -50.2 becomes -50.25. A key whose bias is b below the largest weighs e^-b as
    much, wrong by 2^-8 b e^-b, which is never above 0.0015. As it is, Sandwich's 64.2 would become 64.

    A row in which all is cut off by float32's lowest number, or by -100,000 in float16, is then a row without
    a bias. These numbers are -inf in 16 bits: it would be a row without any key.
    """
    bias = bias.to(torch.promote_types(bias.dtype, torch.float32))  # what it is less must not be rounded
    if surely(bias.shape[-1] == 0):
        return bias.to(dtype)
    largest = bias.detach().amax(-1, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)  # a row without any key stays one
    return (bias - largest).to(dtype)
