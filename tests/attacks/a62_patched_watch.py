# /// attack
# class = "A62"
# title = "switches off what watches for forbidden calls"
# hope = "the watch lives in the same process"
# parts = ["calling"]
# ///
watch = _sys.modules['autograder.worker.forbidding']
watch._take = watch._refusing = watch._guarding = watch.forbidding = watch.ForbiddenCallError = lambda *a: None
_sys.modules['autograder.worker.session'].Job._load = lambda *a: None
builtin = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
