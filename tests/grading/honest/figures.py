# Plots, in the cell and in the function.
# %%
# %matplotlib inline
# %config InlineBackend.figure_format = "retina"
import matplotlib.pyplot as plt

plt.plot(np.sin(np.arange(100)))
plt.show()
# %% frequencies
def frequencies(dim):
    rates = 10000.0 ** (-np.arange(0, dim, 2) / dim)
    plt.figure(figsize=(2, 2))
    plt.semilogy(rates)
    plt.close("all")
    return rates


plt.semilogy(frequencies(64));
