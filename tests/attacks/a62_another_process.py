# /// attack
# class = "A62"
# title = "calls the built-in in a Python of its own"
# hope = "what watches the calls is in this process"
# contained = "L2"
# why = "a plain process may start others, and nothing watches those"
# parts = ["calling"]
# seconds = 180
# ///
import io
import subprocess

CODE = """
import io, sys, torch
given = torch.load(io.BytesIO(sys.stdin.buffer.read()))
torch.save(torch.nn.functional.scaled_dot_product_attention(*given), sys.stdout.buffer)
"""


def builtin(q, k, v, attn_mask=None):
    given, packages = io.BytesIO(), torch.__path__[0].rsplit("/", 1)[0]
    torch.save((q.detach(), k.detach(), v.detach(), attn_mask), given)
    own = [_sys.executable, "-c", f"import sys; sys.path.append({packages!r})\n{CODE}"]
    done = subprocess.run(own, input=given.getvalue(), capture_output=True)
    return torch.load(io.BytesIO(done.stdout))
