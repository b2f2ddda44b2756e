# A text of a megabyte for an answer, for whoever reads the feedback.
# attacks: frequencies, wrong_columns
# verdict: malformed
# %% frequencies
def frequencies(dim):
    return ["<script>" * 20_000] * 2
# %% wrong_columns
wrong_columns = "[1, 3]" * 10_000
