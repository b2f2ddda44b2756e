# A list that contains itself.
# attacks: frequencies
# verdict: error
# %% frequencies
def frequencies(dim):
    rates = []
    rates.append(rates)
    return rates
