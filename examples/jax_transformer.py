"""posenc_lib in JAX: RoPE and ALiBi inside jit and grad, with tables made once outside.

python examples/jax_transformer.py
"""

import jax
import jax.numpy as jnp
import numpy as np

from posenc_lib import alibi_bias, attention, rotary_tables, rotate

HEADS, LENGTH, HEAD_DIM = 4, 16, 8
DIM = HEADS * HEAD_DIM

# Outside of jit, where angles are exact to the last bit: JAX computes in float32 unless told otherwise.
AT = jnp.arange(LENGTH)
TABLES = rotary_tables(AT, HEAD_DIM)
BIAS = alibi_bias(HEADS, AT, AT)


def layer(weights, x, encoding):
    """Self-attention of x, (batch, length, dim)."""
    q, k, v = (
        (x @ weights[name]).reshape(*x.shape[:2], HEADS, HEAD_DIM).swapaxes(1, 2) for name in ("q", "k", "v")
    )
    turn = (lambda vectors: rotate(vectors, TABLES)) if encoding == "rope" else None
    y = attention(q, k, v, rotate=turn, bias=BIAS if encoding == "alibi" else None, causal=True)
    return y.swapaxes(1, 2).reshape(x.shape) @ weights["o"]


def loss(weights, x, encoding):
    """How badly a layer tells each token which one came just before it."""
    return jnp.mean((layer(weights, x, encoding)[:, 1:] - x[:, :-1]) ** 2)


def main(encoding: str = "rope", steps: int = 150) -> tuple[float, float]:
    keys = jax.random.split(jax.random.PRNGKey(0), 5)
    weights = {
        name: jax.random.normal(key, (DIM, DIM)) * DIM**-0.5 for name, key in zip("qkvo", keys, strict=False)
    }
    x = jax.random.normal(keys[4], (8, LENGTH, DIM))
    step = jax.jit(jax.value_and_grad(loss), static_argnums=2)
    losses = []
    for _ in range(steps):
        value, slopes = step(weights, x, encoding)
        weights = jax.tree.map(lambda weight, slope: weight - slope, weights, slopes)
        losses.append(float(value))
    assert np.isfinite(losses).all()
    return losses[0], losses[-1]


if __name__ == "__main__":
    for encoding in ("rope", "alibi"):
        print(encoding, "loss, before and after: {:.2f} {:.2f}".format(*main(encoding)))
