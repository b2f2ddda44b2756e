"""posenc_lib in Flax: a layer of NNX with RoPE or ALiBi, trained by Optax.

python examples/flax_transformer.py
"""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from posenc_lib import alibi_bias, attention, rotary_tables, rotate

HEADS, LENGTH, HEAD_DIM = 4, 16, 8
DIM = HEADS * HEAD_DIM

# Made once, outside of jit, where angles are exact: constants of what is compiled, and no parameters.
AT = jnp.arange(LENGTH)
TABLES, BIAS = rotary_tables(AT, HEAD_DIM), alibi_bias(HEADS, AT, AT)


class Layer(nnx.Module):
    """Self-attention of x, (batch, length, dim)."""

    def __init__(self, encoding: str, rngs: nnx.Rngs) -> None:
        self.encoding = encoding
        self.qkv = nnx.LinearGeneral(DIM, (3, HEADS, HEAD_DIM), rngs=rngs)
        self.out = nnx.LinearGeneral((HEADS, HEAD_DIM), DIM, axis=(-2, -1), rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        q, k, v = jnp.moveaxis(self.qkv(x), 2, 0)  # each (batch, length, heads, head_dim), as Flax has it
        turn = (lambda vectors: rotate(vectors, TABLES, seq_axis=-3)) if self.encoding == "rope" else None
        bias = BIAS if self.encoding == "alibi" else None
        return self.out(attention(q, k, v, rotate=turn, bias=bias, causal=True, seq_axis=-3))


@nnx.jit
def step(layer: Layer, optimizer: nnx.Optimizer, x: jax.Array) -> jax.Array:
    """One step on telling each token which one came just before it."""

    def loss(layer: Layer) -> jax.Array:
        return jnp.mean((layer(x)[:, 1:] - x[:, :-1]) ** 2)

    value, slopes = nnx.value_and_grad(loss)(layer)
    optimizer.update(layer, slopes)
    return value


def main(encoding: str = "rope", steps: int = 100) -> tuple[float, float]:
    layer = Layer(encoding, nnx.Rngs(0))
    optimizer = nnx.Optimizer(layer, optax.adam(1e-2), wrt=nnx.Param)
    x = jax.random.normal(jax.random.PRNGKey(0), (8, LENGTH, DIM))
    losses = [float(step(layer, optimizer, x)) for _ in range(steps)]
    return losses[0], losses[-1]


if __name__ == "__main__":
    for encoding in ("rope", "alibi"):
        print(encoding, "loss, before and after: {:.2f} {:.2f}".format(*main(encoding)))
