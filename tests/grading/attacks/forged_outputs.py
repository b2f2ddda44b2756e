# Outputs that no notebook may hold: half characters, counts below zero, scripts, unknown kinds.
# attacks: all
# verdict: error
# %%
import posenc_course.grading.sandbox.learner as learner

outputs = [
    {"output_type": "stream", "name": "stdout", "text": "\ud800 \x00 \x1b]0;title\x07 <script>alert(1)</script>"},
    {"output_type": "stream", "name": "../stdout", "text": "x"},
    {"output_type": "error", "ename": "\udfff\x00", "evalue": "<script>", "traceback": [{"a": 1}, "\ud800\x00", 3]},
    {"output_type": "execute_result", "execution_count": -1, "data": {"text/plain": "\ud800\x00"}, "metadata": {}},
    {"output_type": "execute_result", "execution_count": True, "data": {"text/plain": "1"}, "metadata": {}},
    {"output_type": "execute_result", "execution_count": 10**4000, "data": {"text/plain": "1"}, "metadata": {}},
    {"output_type": "display_data", "data": {"text/html": "<script>alert(1)</script>"}, "metadata": {}},
    {"output_type": "display_data", "data": {"image/svg+xml": "<svg onload='alert(1)'/>"}, "metadata": {}},
    {"output_type": "display_data", "data": {"image/png": "x' onerror='alert(1)"}, "metadata": {"a": "b"}},
    {"output_type": "update_display_data", "data": {}, "transient": {}},
    {"data": {}},
    7,
]
learner.Learner._cell = lambda self, source: {"outputs": outputs, "failed": "perhaps"}
