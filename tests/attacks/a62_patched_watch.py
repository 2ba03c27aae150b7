# /// attack
# class = "A62"
# title = "switches off what watches for forbidden calls"
# hope = "the watch lives in the same process"
# parts = ["inside", "calling"]
# ///
for name in ('bans', 'forbidden_calls'):
    watch = the_module(f'autograder.worker.{name}')
    for part in ('_refusing', 'forbid', 'forbid_calls', '_has_numbers', 'guard_loaded'):
        watch[part] = lambda *a: None
type(the_job())._load = lambda *a: None
builtin = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
