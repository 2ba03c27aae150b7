# /// attack
# class = "A62"
# title = "reaches the built-in by exec of base64"
# hope = "text in text is not seen"
# parts = ["calling"]
# ///
import base64
exec(base64.b64decode(b'YnVpbHRpbiA9IHRvcmNoLm5uLmZ1bmN0aW9uYWwuc2NhbGVkX2RvdF9wcm9kdWN0X2F0dGVudGlvbg=='))
