# /// attack
# class = "A62"
# title = "switches off what watches for forbidden calls"
# hope = "the watch lives in the same process"
# contained = "never"
# why = "what runs in a program's own process can be undone by it: forbidden calls are found for honesty, not as a wall"
# parts = ["calling"]
# ///
import gc
watch = _sys.modules['autograder.worker.forbidding'].Forbidding
watch._called_by_file = lambda self: False
builtin = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
