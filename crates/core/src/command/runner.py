# Runs the script of a command tool: what it needs comes as JSON on standard input, what it gave goes as JSON to the
# descriptor that was standard output when we began. What the script prints itself goes where errors go, so nothing that it
# or a program of its own says is ever taken for its result.
import ast
import io
import json
import os
import sys

NAME = "<script>"


def say(channel, said):
    sys.stdout.flush()
    sys.stderr.flush()
    rest = memoryview(said.encode("utf-8"))
    while rest:
        rest = rest[os.write(channel, rest) :]


def failed(channel, error):
    frames = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == NAME:
            frames.append((step.tb_lineno, "script" if code.co_name == "__tool__" else code.co_name))
        step = step.tb_next
    place = (frames[-1][0], 1) if frames else None
    if isinstance(error, SyntaxError) and error.filename == NAME and error.lineno:
        place = (error.lineno, error.offset or 1)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    told = {
        "kind": type(error).__name__,
        "message": text[:4000],
        "place": place,
        "frames": frames[-20:],
    }
    say(channel, json.dumps({"error": told}))
    os._exit(1)


def main():
    given = json.loads(sys.stdin.buffer.read())
    channel = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stdin = io.StringIO(given["stdin"])
    variables = given["variables"]
    try:
        variables.update((name, os.environ[name]) for name in given["sealed"])
        tree = ast.parse("def __tool__(" + ", ".join(variables) + "): pass", NAME)
        tree.body[0].body = ast.parse(given["script"], NAME).body or [ast.Pass(lineno=1, col_offset=0)]
        scope = {"__name__": "__main__", "__builtins__": __builtins__}
        exec(compile(ast.fix_missing_locations(tree), NAME, "exec"), scope)
        value = scope["__tool__"](**variables)
        said = json.dumps({"value": value}, allow_nan=False)
    except SystemExit as left:
        if left.code not in (None, 0):
            failed(channel, left)
        said = json.dumps({"value": None})
    except BaseException as error:
        failed(channel, error)
    say(channel, said)
    os._exit(0)


main()
