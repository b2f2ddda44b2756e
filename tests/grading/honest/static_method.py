# A method of a class that is never made.
# %% encode
class Encoder:
    @staticmethod
    def row(position, dim):
        pairs = ((position / 10000 ** (i / dim)) for i in range(0, dim, 2))
        return [f(angle) for angle in pairs for f in (math.sin, math.cos)]


encode = Encoder.row
