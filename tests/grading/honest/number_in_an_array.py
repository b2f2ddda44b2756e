# A number as a tensor without axes.
# %% longest_wavelength
import torch

longest_wavelength = 2 * torch.pi * torch.tensor(500_000.0) ** (126 / 128)
