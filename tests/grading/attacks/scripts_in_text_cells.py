# Scripts in all that a notebook may hold, for the browser of whoever grades or reads feedback.
# attacks: frequencies
# %%
from IPython.display import HTML, SVG, Javascript, Latex, Markdown, display

breached = False
display(HTML("<script>alert(1)</script>"), Javascript("alert(1)"), SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"))
display(Latex("<script>alert(1)</script>"), Markdown("<script>alert(1)</script>"))
display({"text/plain": "<script>alert(1)</script>", "image/png": "' onerror='alert(1)"}, raw=True)
print("<script>alert(1)</script>")
