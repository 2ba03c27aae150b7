# /// attack
# class = "A45"
# title = "prints its environment and arguments"
# hope = "keys often lie there"
# ///
import os
tried()
print(dict(os.environ), _sys.argv, _sys.orig_argv, flush=True)
