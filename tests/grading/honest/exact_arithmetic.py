# Fractions and decimals on the way.
# %% frequencies
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 40


def frequencies(dim):
    exponents = [Fraction(-2 * i, dim) for i in range(dim // 2)]
    return [float(Decimal(10000) ** (Decimal(e.numerator) / Decimal(e.denominator))) for e in exponents]
