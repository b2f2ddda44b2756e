# Brings the course's library into a browser, and passes over what needs PyTorch there. Elsewhere it does nothing.
import sys

if sys.platform == "emscripten":
    import piplite

    await piplite.install("posenc_lib")

    def pass_over(lines):
        return ["print('This cell needs PyTorch, which a browser does not have. Run it in Jupyter on your machine.')"]

    def without_torch(lines):
        return pass_over(lines) if lines and lines[0].startswith("# Needs PyTorch") else lines

    get_ipython().input_transformers_cleanup.append(without_torch)
