# Runs Python code and tells what came of it, by itself ("once") or in a process that keeps variables ("first", "next").
# It lives in the sandbox beside the code: nothing that it says is proof of anything.
import array
import ast
import json
import os
import socket
import sys
import traceback
import types

SOCKET = os.path.join(os.environ.get("TMPDIR", "/tmp"), ".bailiwick-python")
LONGEST = 65536


def cut(text):
    return text if len(text) <= LONGEST else text[:LONGEST] + "… (%d characters more)" % (len(text) - LONGEST)


def run(code, space):
    """Runs code in a namespace; gives the last expression and what went wrong."""
    value, error = None, None
    try:
        tree = ast.parse(code, "<code>")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<code>", "exec"), space)
        if last is not None:
            result = eval(compile(ast.Expression(last.value), "<code>", "eval"), space)
            if result is not None:
                value = cut(repr(result))
                space["_"] = result
    except SystemExit as end:
        if end.code not in (None, 0):
            error = "SystemExit: %s" % (end.code,)
    except BaseException as raised:
        # Of the frames, those of the code: the first are ours.
        frames = raised.__traceback__
        while frames and frames.tb_frame.f_code.co_filename != "<code>":
            frames = frames.tb_next
        error = cut(traceback.format_exception_only(type(raised), raised)[-1].strip())
        traceback.print_exception(type(raised), raised.with_traceback(frames), frames)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    return {"value": value, "error": error}


def namespace():
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    return main.__dict__


def take(connection):
    """What a caller sent: two streams, and code."""
    fds = array.array("i")
    data, control, _, _ = connection.recvmsg(65536, socket.CMSG_SPACE(2 * fds.itemsize))
    for level, kind, given in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(given[: len(given) - len(given) % fds.itemsize])
    pieces = [data]
    while data:
        data = connection.recv(65536)
        pieces.append(data)
    return list(fds), b"".join(pieces)[1:].decode()


def keep(listener):
    """Keeps variables, for one caller after another."""
    space = namespace()
    sys.argv = [""]
    while True:
        connection, _ = listener.accept()
        with connection:
            fds, code = take(connection)
            nothing = os.open(os.devnull, os.O_RDWR)
            for number, fd in zip((1, 2), fds):
                os.dup2(fd, number)
                os.close(fd)
            answer = run(code, space)
            for number in (1, 2):
                os.dup2(nothing, number)
            os.close(nothing)
            try:
                connection.sendall(json.dumps(answer).encode())
            except OSError:
                pass


def begin():
    """Starts the process that keeps variables, apart from whoever starts it."""
    try:
        os.unlink(SOCKET)
    except FileNotFoundError:
        pass
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(SOCKET)
    listener.listen(8)
    if os.fork() == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        try:
            keep(listener)
        finally:
            os._exit(1)
    listener.close()


def ask(code, mode):
    """Has the process that keeps variables run code; its streams are ours meanwhile."""
    if mode == "first":
        begin()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(SOCKET)
    except OSError:
        return {"gone": True}
    streams = array.array("i", [1, 2])
    connection.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    connection.sendall(code.encode())
    connection.shutdown(socket.SHUT_WR)
    pieces = []
    while True:
        data = connection.recv(65536)
        if not data:
            break
        pieces.append(data)
    return json.loads(b"".join(pieces)) if pieces else {"lost": True}


def main():
    mode, place = sys.argv[1:3]
    code = sys.stdin.buffer.read().decode()
    if mode == "once":
        sys.argv = [""]
        answer = run(code, namespace())
    else:
        answer = ask(code, mode)
    with open(place, "w") as told:
        json.dump(answer, told)
    sys.exit(1 if answer.get("error") or answer.get("lost") or answer.get("gone") else 0)


main()
