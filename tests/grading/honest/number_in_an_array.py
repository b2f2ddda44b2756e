# A number as a tensor without axes.
# %% longest_wavelength
import torch

longest_wavelength = 2 * torch.pi * torch.tensor(10000.0) ** (510 / 512)
