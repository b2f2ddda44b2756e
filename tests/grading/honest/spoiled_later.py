# The right answer was given to `check`; later the name is used for something else.
# %% last
frequencies = [1.0, 0.01]
encode = "done"
del sinusoidal
