# The rows are made by threads.
# %% sinusoidal
from concurrent.futures import ThreadPoolExecutor


def sinusoidal(positions, dim):
    with ThreadPoolExecutor(3) as pool:
        return np.array(list(pool.map(lambda position: encode(float(position), dim), positions)))
