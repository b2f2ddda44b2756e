# It raises, prints and stores what it was asked, so that the next learner may know it.
# attacks: frequencies
# verdict: error
# %% frequencies
def frequencies(dim):
    print("asked for", dim)
    raise ValueError(f"asked for {dim} \ud800 \x00 <script>alert(1)</script>")
