# /// attack
# class = "A84"
# title = "sends random bytes"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
import os; write(os.urandom(1 << 20))
