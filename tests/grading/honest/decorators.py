# Cached, wrapped and counted.
# %% frequencies
import functools


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
@functools.cache
def frequencies(dim):
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)
# %% encode
@functools.lru_cache(maxsize=None)
@functools.singledispatch
def encode(position, dim):
    return [f(position * w) for w in frequencies(dim) for f in (math.sin, math.cos)]
