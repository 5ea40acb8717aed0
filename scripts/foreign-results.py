"""Compares the results of one of GStreamer's check suites for the element and for GStreamer's ximagesink.

    foreign-results.py TITLE LOG-OF-THE-ELEMENT LOG-OF-XIMAGESINK

The logs are those of libcheck. The exit code is 1 if the element fails a test that ximagesink passes, or if
no test ran.
"""

import re
import sys

SUMMARY = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)")
FAILURE = re.compile(r":[FE]:[^:]*:([^:]*):\d+: ?(.*)")


def results(path):
    """The number of tests that ran and that passed, and the messages of the failed ones by their names."""
    count, passed, failures = 0, 0, {}
    with open(path, errors="replace") as log:
        for line in log:
            if summary := SUMMARY.match(line):
                checks, failed, errors = map(int, summary.groups())
                count += checks
                passed += checks - failed - errors
            elif failure := FAILURE.search(line):
                failures.setdefault(failure[1], failure[2].strip())
    return count, passed, failures


title = sys.argv[1]
count, passed, failures = results(sys.argv[2])
other_count, other_passed, other_failures = results(sys.argv[3])
print(f"{title}: {passed} of {count} passed; ximagesink {other_passed} of {other_count}")
for name, text in sorted(failures.items()):
    other = other_failures.get(name)
    verdict = "ximagesink passes it" if other is None else f"ximagesink fails it, too: {other[:160]}"
    print(f"  {name}: {text[:160]} ({verdict})")
sys.exit(1 if count == 0 or failures.keys() - other_failures.keys() else 0)
