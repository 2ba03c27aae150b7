# /// attack
# class = "A22"
# title = "looks for expected values in the memory of its process"
# hope = "the answer key may have come along"
# ///
import gc
tried()
words = ("answer", "expected", "reference", "nominal", "exact", "Expected", "AnswerKey", "Verdict")
for item in gc.get_objects():
    if type(item).__name__ in words and not isinstance(item, type):
        got(f"an object of type {type(item).__name__}")
for name in list(_sys.modules):
    if name.startswith(("autograder.judge", "autograder.report", "solutions")):
        got(f"the module {name}")
