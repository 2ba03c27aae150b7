# Made by `course export prairielearn-grader`. It has the student's kit and no solution, so the image may be public.
FROM python:3.12-slim
COPY kit /course/kit
ARG PIP_EXTRA_INDEX_URL=INDEX
RUN python -m pip install --no-cache-dir --constraint /course/kit/constraints.txt --editable /course/kit
COPY grade.sh /course/grade.sh
ENTRYPOINT ["/course/grade.sh"]
