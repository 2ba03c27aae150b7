# /// attack
# class = "A62"
# title = "takes the built-in from sys.modules"
# hope = "the module is not named in the source"
# parts = ["calling"]
# ///
builtin = _sys.modules['.'.join(('torch', 'nn', 'functional'))].__dict__['_'.join(('scaled', 'dot', 'product', 'attention'))]
