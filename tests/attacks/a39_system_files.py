# /// attack
# class = "A39"
# title = "reads files of the system, keys and shells"
# hope = "what is readable for the user is"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import glob
tried()
for file in ("/etc/shadow", "/etc/passwd", *glob.glob("/home/*/.ssh/*"), *glob.glob("/root/.*")):
    try:
        if open(file).read(1):
            got(file)
    except (OSError, UnicodeDecodeError):
        pass
