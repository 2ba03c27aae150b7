# /// attack
# class = "A23"
# title = "claims endless line numbers for functions of an exercise that runs later"
# hope = "the judge may count through all lines of a file"
# parts = ["inside"]
# ///
tried()
type(the_job().sources).survey = lambda *_: {
    "places": {"f": [10**15], "g": [-(10**15)]}, "forbidden": [["x" * 10**6, 10**30]], "assignments": [], "statements": [],
    "functions": [], "helpers": [], "words": {}, "flags": []
}
