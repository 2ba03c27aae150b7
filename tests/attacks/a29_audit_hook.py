# /// attack
# class = "A29"
# title = "listens to every audited event"
# hope = "paths and secrets may pass by"
# ///
def listen(event, args):
    if event == "open" and args and "solution" in str(args[0]):
        got(str(args[0]))
tried()
_sys.addaudithook(listen)
