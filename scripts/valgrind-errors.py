#!/usr/bin/env python3
"""Prints the errors of valgrind that may be PipSink's.

  valgrind-errors.py FILE...

FILE is the output of `valgrind --xml=yes --xml-file=FILE`. The exit code is 1 if there are such errors, and 0
otherwise.

An error has one or more stacks: where it happened, and where the memory that it is about was allocated or freed. It
counts when

- a frame of any of its stacks is in PipSink's own code or in Swift's runtime, or
- one of its stacks does not go back to where its thread began, so that the caller is unknown, or
- the file is not complete, as when the program was killed.

All other errors are in GStreamer, GLib, the C library and the program that runs the test, without any of PipSink's
code. They are counted, but not printed.
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree

# The libraries and programs of PipSink and of Swift.
OURS = re.compile(r"^(libgstpipsink|libPipSink|pipsink|libswift|libdispatch|libBlocksRuntime|lib_?Foundation)")
# The symbols of Swift, and the library with operations on pixels, which only PipSink calls.
OUR_FUNCTIONS = re.compile(r"^(\$s|\$S|swift_|pipsink_)")
OUR_KERNELS = re.compile(r"^libyuv\.so")
# The functions in which threads begin, the main thread and others.
FIRST_FUNCTIONS = {"_start", "main", "(below main)", "clone", "clone3", "start_thread", "_dl_start", "_dl_start_user"}


def frames(stack):
    for frame in stack.findall("frame"):
        yield os.path.basename(frame.findtext("obj") or ""), frame.findtext("fn") or ""


def reason_to_count(error):
    """Why an error counts; None if it cannot be PipSink's."""
    for stack in error.findall("stack"):
        all_frames = list(frames(stack))
        for library, function in all_frames:
            if OURS.match(library) or OUR_KERNELS.match(library) or OUR_FUNCTIONS.match(function):
                return f"{function or '???'} in {library or '???'}"
        # The dynamic loader runs libraries' initialisers before main.
        begins = [library for library, function in all_frames if function in FIRST_FUNCTIONS or library.startswith("ld-linux")]
        if not begins:
            return "a stack that does not go back to where its thread began"
    return None


def describe(error):
    lines = [error.findtext("what") or error.findtext("xwhat/text") or error.findtext("kind") or "an error"]
    for element in error:
        if element.tag == "auxwhat":
            lines.append("  " + (element.text or ""))
        if element.tag == "stack":
            for frame in element.findall("frame"):
                place = os.path.basename(frame.findtext("obj") or "???")
                if frame.findtext("file"):
                    place = f"{frame.findtext('file')}:{frame.findtext('line')}"
                lines.append(f"    {frame.findtext('fn') or '???'} ({place})")
    return "\n".join(lines)


def main(paths):
    counted = 0
    for path in paths:
        others = 0
        try:
            errors = ElementTree.parse(path).getroot().findall("error")
        except (OSError, ElementTree.ParseError) as problem:
            print(f"{path}: not a complete report of valgrind: {problem}")
            counted += 1
            continue
        for error in errors:
            reason = reason_to_count(error)
            if reason is None:
                others += 1
                continue
            counted += 1
            print(f"{describe(error)}\n  counted because of {reason}")
        print(f"{len(errors) - others} errors that may be PipSink's, {others} of other libraries' alone")
    return 1 if counted else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print("usage: valgrind-errors.py FILE...", file=sys.stderr)
        sys.exit(64)
    sys.exit(main(sys.argv[1:]))
