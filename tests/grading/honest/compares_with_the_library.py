# Own cells compare with the library, which is not there while a notebook is graded.
# %% last
import posenc_lib

np.testing.assert_allclose(frequencies(8), posenc_lib.frequencies(8))
# %% last
print(posenc_lib.sinusoidal(np.arange(3), 4))
