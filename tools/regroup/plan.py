def _(room, **mods):
    return {f"{room}.{n}": [x if "/" not in x else x.replace("/", ".") for x in olds.split()] for n, olds in mods.items()}
def R(pre, table):
    out = {}
    for n, olds in table.items():
        out[n] = [o if o.startswith("=") else f"{pre}.{o}" for o in olds.split()]
        out[n] = [o.lstrip("=") for o in out[n]]
    return out
PLAN = {}
PLAN |= R("protocol", {
    "protocol.values": "values bounds frames packets",
    "protocol.fingerprints": "fingerprints operations",
    "protocol.programs": "functions statements source_text visible",
    "protocol.agreements": "sandbox log_labels part_code banned",
})
PLAN |= R("checks", {
    "checks.language": "language judges trials probe_code",
    "checks.plain_given": "plain_given structure",
    "checks.given": "given weights new_tensors",
    "checks.pretended_device": "another_device",
})
PLAN |= R("edits", {
    "edits.program": "text slots scope",
    "edits.operators": "operators replacements parts",
    "edits.insertions": "additions literals moves",
    "edits.search": "repairs guides",
})
PLAN |= R("worker", {
    "worker.session": "session observe labelled_log limits",
    "worker.sources": "sources parts own_helpers package notebook_names",
    "worker.forbidden_calls": "forbidden_calls library_guard",
    "worker.line_tracing": "line_tracing line_statements plain_values",
    "worker.tensors": "tensors tracing sandbox.warm_tensors",
    "sandbox.confined.layers": "sandbox.layers sandbox.landlock sandbox.seccomp sandbox.system_calls sandbox.linux",
    "sandbox.confined.zygote": "sandbox.warm_up sandbox.zygote",
    "sandbox.confined.large_pages": "sandbox.large_pages",
    "sandbox.confined.canaries": "sandbox.canaries",
    "sandbox.confined.relay": "sandbox.relay",
    "sandbox.confined.staging": "sandbox.staging",
})
PLAN |= R("course", {
    "course.model": "model names",
    "course.toml": "section problems lines nearest",
    "course.grading": "grading assignments taking",
    "course.reader": "reader play exercises forbidden parts sizes words points libraries",
    "course.suite": "suite digest",
    "course.storage": "storage trust",
    "course.files": "stubs kit_files author_files hunts",
})
PLAN |= R("submission", {
    "submission.files": "files names times",
    "submission.folders": "archive folder",
    "submission.submission": "submission own_work todos work",
    "submission.notebook": "notebook ipython",
    "submission.class_folder": "class_folder class_entry canvas moodle",
    "submission.listing": "listing layouts recognition",
})
PLAN |= R("results", {"results.model": "model first_failure reading"})
PLAN |= R("messages", {
    "results.wording": "wording elements",
    "comparison.facts": "comparisons dropout shapes",
    "diagnosis.locations": "locations =diagnosis.cells",
    "diagnosis.exceptions": "exceptions library_errors imports =diagnosis.exceptions =diagnosis.causes",
    "diagnosis.statuses": "statuses todos advice misconceptions",
})
PLAN |= R("runner", {
    "runner.outcomes": "outcomes validation run",
    "runner.process": "process worker_handle",
    "runner.runner": "runner attempt ends timeouts =messages.worker_ends",
    "sandbox.channels": "sandbox.channels sandbox.forked sandbox.launch",
    "sandbox.isolation": "sandbox.isolation sandbox.zygotes sandbox.zygote_pool",
})
PLAN |= R("comparison", {
    "comparison.compare": "compare tolerances",
    "comparison.arrays": "arrays fingerprint tensors dropout likeness",
})
PLAN |= R("answer_key", {
    "answer_key.keys": "keys observable outcomes cache",
    "answer_key.model": "model",
    "answer_key.records": "trace_records sketch_tables planes rounding",
})
PLAN |= R("diagnosis", {
    "diagnosis.case": "patterns.case patterns.axes patterns.pattern patterns.constants =messages.constants",
    "diagnosis.arrangement": "patterns.rearrangement =messages.arrangement patterns.regions patterns.along",
    "diagnosis.other_shapes": "patterns.shape",
    "diagnosis.masks": "patterns.softmax_weights =messages.masks patterns.masks",
    "diagnosis.special": "patterns.special =messages.special patterns.dtype patterns.precision",
    "diagnosis.values": "patterns.elementwise =messages.values patterns.scaled patterns.known patterns.dropout",
    "diagnosis.differences": "differences evidence patterns.detectors",
    "diagnosis.divergence": "location.divergence location.matching location.inputs location.results location.trace_graph location.deadline",
    "diagnosis.locator": "location.locator location.locating",
    "diagnosis.findings": "findings",
    "diagnosis.judgement": "judgement diagnosis",
})
PLAN |= R("judge", {
    "judge.grader": "grader shapes",
    "judge.steps": "steps =messages.steps",
    "judge.marking": "marking",
    "judge.verdict": "verdict result prints",
    "judge.matching": "matching todos",
    "judge.proving": "proving proved suspects budget",
})
PLAN |= R("report", {
    "report.states": "states quantities exercise_summary",
    "report.escaping": "printable glyphs",
    "report.pictures": "passing grids heat picture_words",
    "report.layout": "layout console",
    "report.failures": "failure_view comparison location prints failure_text todo_view",
    "report.plain": "plain",
    "report.terminal": "terminal header",
    "report.terminal_failure": "terminal_failure diff terminal_evidence terminal_location terminal_maps",
    "report.class_table": "class_table class_summary",
    "report.html": "html html_failure html_bars html_grid html_page html_style html_text",
    "report.why": "why",
})
PLAN |= R("authoring", {
    "authoring.build": "building notebooks handout",
    "authoring.reference_parts": "parts parts_body parts_pool",
    "authoring.new": "new course_text init",
    "authoring.leaks": "leaks leaks_early leaks_secrets leaks_texts leaks_views",
    "authoring.release": "releasing release release_key release_tables key_sizes",
    "authoring.proof": "validate program_problems page",
    "authoring.oversights": "oversights unchanging unfinished leftovers",
    "authoring.programs": "programs empty grading places",
    "authoring.styles": "styles once hunts",
    "authoring.mutants": "mutation.mutants mutation.equivalents",
    "authoring.mutation": "mutation.running mutation.record mutation.kept",
    "authoring.witness": "mutation.witness mutation.edges mutation.measured_gradients =edits.gradients",
    "authoring.unusual_inputs": "mutation.unusual_inputs",
    "authoring.default_misconceptions": "mutation.standard mutation.texts =edits.standard",
})
PLAN |= R("learner", {
    "learner.events": "progress.events progress.standing progress.changes progress.course_progress",
    "learner.progress": "progress.store progress.record progress.last progress.digests",
    "learner.checking": "checking trying json_output",
    "learner.hints": "hints misconception_page last_failure solution",
    "learner.next_steps": "next_commands next_exercise start",
    "learner.overview": "overview progress_report",
    "learner.own_files": "reset submission_zip",
    "learner.watch": "watch.session watch.running_check watch.syntax watch.work watch.files",
    "learner.watch_screen": "watch.screen watch.cockpit",
    "learner.keys": "watch.keyboard",
    "notebook.asking": "notebook.asking notebook.cards notebook.process",
    "notebook.cells": "notebook.live notebook.runs notebook.work notebook.earlier",
    "notebook.judging": "notebook.judging",
    "practice.hunting": "practice.hunting practice.programs practice.store practice.choices",
    "practice.arranging": "practice.arranging",
    "practice.reviewing": "practice.reviewing question",
    "practice.testing": "practice.testing",
    "practice.trials": "practice.trials",
    "editor.server": "editor.server editor.findings editor.annotations editor.commands editor.screen editor.checker",
    "play.__main__": "play.__main__",
    "play.process": "play.launch",
    "play.running": "play.running play.stopping",
    "play.stage": "play.stage play.checkpoint play.live",
})
PLAN |= R("instructor", {
    "instructor.bulk": "grading.bulk grading.rate grading.memory grading.isolation grading.conditions",
    "instructor.class_run": "grading.class_run",
    "instructor.cluster": "grading.cluster",
    "instructor.out": "grading.out grading.index grading.reports grading.shards",
    "instructor.shards": "grading.merge grading.earlier_run",
    "instructor.decisions": "gradebook.adjustments grading.accepted author",
    "instructor.policy": "gradebook.policy",
    "instructor.time_rules": "gradebook.time_rules",
    "instructor.roster": "gradebook.roster gradebook.csv_text",
    "instructor.graded": "gradebook.graded grading.selection gradebook.term",
    "instructor.scores": "gradebook.scores gradebook.changes",
    "instructor.statistics": "dashboard.statistics dashboard.misconceptions dashboard.stuck dashboard.cohort dashboard.clusters dashboard.similar",
    "instructor.table": "dashboard.table dashboard.charts dashboard.matrix",
    "instructor.page": "dashboard.page dashboard.page_tables dashboard.cards dashboard.style",
    "instructor.class_page": "dashboard.class_page dashboard.graded_submissions dashboard.hidden_names dashboard.pseudonyms dashboard.new_misconception",
    "exports.formats": "gradebook.formats",
    "exports.filling": "gradebook.filling gradebook.matching gradebook.sheet",
    "exports.classroom50": "gradebook.classroom50 gradebook.workflows gradebook.public_kit gradebook.script_files",
    "exports.feedback": "gradebook.feedback gradebook.feedback_next gradebook.feedback_page gradebook.feedback_style",
    "exports.feedback_zip": "gradebook.feedback_zip",
    "exports.gradescope": "gradebook.gradescope gradebook.gradescope_zip",
    "exports.junit": "gradebook.junit",
    "exports.markdown": "gradebook.markdown",
    "exports.nbgrader": "gradebook.nbgrader gradebook.nbgrader_rows gradebook.nbgrader_manual gradebook.nbgrader_notebooks gradebook.nbgrader_course gradebook.nbgrader_parts",
    "exports.prairielearn": "gradebook.prairielearn",
})
PLAN |= R("cli", {
    "cli.program": "program parser trust",
    "cli.screen": "screen progress_line key_progress",
    "cli.commands": "arguments learner_commands instructor_commands",
    "cli.new": "new init",
    "cli.play": "play play_options",
    "cli.check": "check question",
    "cli.overview": "overview key_sizes",
})
KEEP_INIT = ["autograder", "cli"]
DOC, FACE_DOC = {}, {}
FACE_EXTRA = {"notebook": {"notebook.asking": ["check", "hint", "status", "why"]}}
D = "diagnosis.patterns"
RENAME = {
    "authoring.hunts:_wrong": "_wrong_variant",
    "learner.practice.store:_read": "_read_practice",
    "report.class_table:_looks": "_look_lines",
    "instructor.gradebook.gradescope_zip:write_autograder": "write_gradescope_autograder", "instructor.gradebook.classroom50:write_autograder": "write_classroom50_autograder",
    "course.play:_as_id": "_play_id", "course.play:_needs": "_play_needs", "instructor.grading.accepted:COLUMNS": "ACCEPTED_COLUMNS", "instructor.gradebook.nbgrader_parts:_cells": "_cells_of_part",
    "cli.parser:USAGE": "USAGE_TEXT",
    **{f"{D}.{m}:detect": f"detect_{m}" for m in "dropout dtype elementwise known masks precision rearrangement regions scaled special softmax_weights along".split()},
    f"{D}.shape:detect": "detect_shape",
    f"{D}.rearrangement:_turned": "_exchanged_axes",
    f"{D}.shape:_turned": "_reordered",
    "protocol.packets:HEADER": "PACKET_HEADER",
    
    "edits.parts:_of_slice": "_other_ends",
    "course.parts:KEYS": "PART_KEYS", "course.exercises:KEYS": "EXERCISE_KEYS", "course.grading:KEYS": "GRADING_KEYS",
    "course.assignments:KEYS": "ASSIGNMENT_KEYS", "course.play:KEYS": "PLAY_KEYS",
    "submission.moodle:Owner": "MoodleOwner", "submission.canvas:uploads": "canvas_uploads", "checks.structure:nearest": "nearest_name", "course.trust:trust": "trust_folder", "report.console:make_console": "report_console", "worker.forbidden_calls:forbid": "forbid_calls", "worker.support:load": "load_support", "learner.progress.events:newest": "newest_events", "diagnosis.patterns.constants:CLOSE": "CLOSE_TO_CONSTANT", "diagnosis.patterns.regions:_MOST_LISTED": "_MOST_INDICES", "diagnosis.patterns.known:_term": "_missing_term",
    "messages.steps:described": "described_result",
    "messages.worker_ends:KILLED": "KILLED_BY_SYSTEM",
    "comparison.likeness:CHANCE": "CHANCE_ERRORS",
    "answer_key.outcomes:from_record": "outcomes_from_record", "answer_key.outcomes:to_record": "outcomes_to_record",
    "report.heat:legend": "heat_legend",
    "report.class_summary:_misconceptions": "_misconceptions_in",
    "report.html_bars:WIDEST": "WIDEST_BARS", "report.html_bars:HIGH": "HIGHEST_BARS",
    "authoring.init:_texts": "_course_texts",
    "authoring.leaks_texts:_of_catalogue": "_catalogue_texts",
    "learner.progress.last:MOST_BYTES": "MOST_REPORT_BYTES",
    "learner.practice.hunting:FOLDER": "HUNT_FOLDER",
    "learner.practice.arranging:FOLDER": "ARRANGE_FOLDER",
    "learner.play.stopping:INTERRUPTED": "INTERRUPTED_STATUS",
    "instructor.dashboard.statistics:passing": "passing_share",
    "instructor.gradebook.nbgrader_rows:_rows": "_table_rows",
    "messages.arrangement:Repeated": "SliceRepeated",
    "protocol.part_code:CALL": "CALL_CODE",
    "judge.steps:plan_of": "plan_of_steps",
}
DROP = ["edits.literals:Ranked", "edits.moves:Ranked", "report.html_grid:_LETTER"]
KEEPMOD = ["autograder.ending", "autograder.checks.empty_programs"]
