# /// attack
# class = "A59"
# title = "runs a compiler"
# hope = "a program may start others"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import subprocess
tried()
for command in (["/bin/true"], ["/usr/bin/true"], [_sys.executable, "-c", "pass"]):
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.SubprocessError):
        continue
    got(f"could run {command[0]}")
