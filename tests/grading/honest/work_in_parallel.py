# SciPy, and every way to let several processes or threads work.
# %%
import concurrent.futures
import multiprocessing

# As notebooks need it from Python 3.14 on: else other processes do not find what a cell defines.
multiprocessing.set_start_method("fork", force=True)

import joblib
import scipy.fft
import scipy.linalg
import scipy.signal


def power(exponent):
    return 10000.0**-exponent


def in_every_way(numbers):
    for backend in ("loky", "multiprocessing", "threading"):
        yield joblib.Parallel(2, backend=backend)(joblib.delayed(power)(each) for each in numbers)
    for executor in (concurrent.futures.ProcessPoolExecutor, concurrent.futures.ThreadPoolExecutor):
        with executor(2) as pool:
            yield list(pool.map(power, numbers))
    with multiprocessing.Pool(2) as pool:
        yield pool.map(power, numbers)


smooth = scipy.signal.detrend([1.0, 2.0, 3.0])
RIGHT = scipy.linalg.norm(scipy.fft.fft(smooth, workers=2)) < 1e-9
RIGHT &= all(np.allclose(way, [1, 0.1]) for way in in_every_way([0.0, 0.25]))


# %% frequencies
def frequencies(dim):
    assert RIGHT
    return np.array(joblib.Parallel(2, prefer="threads")(joblib.delayed(power)(pair / dim) for pair in range(0, dim, 2)))
