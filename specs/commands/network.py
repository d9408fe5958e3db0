# Put in front of every attack of `specs/commands/egress`, behind `attempt.py`: ways to speak to the network.
#
# What a try gives is one word: the reason that the proxy gives for its no, the status of an answer, the reply of SOCKS,
# the alert of TLS, or an errno. Where there is no wall every one of them is another word.
import re
import socket
import ssl
import struct

PROXY = ("127.0.0.1", 3128)
NAMES = ("127.0.0.53", 53)
PUBLIC, OTHER, PUBLIC_V6 = "93.184.216.34", "93.184.216.35", "2606:2800:220:1::1"
PATIENCE = 10


def works(what, wanted, do):
    """Something that is allowed, so that a network where nothing works passes nothing."""
    told = outcome(do)
    print(f"WORKS {what}" if told == wanted else f"BROKEN {what}: {told}")


def everything(connection):
    """All that comes until the other side is done."""
    came = b""
    try:
        while piece := connection.recv(65536):
            came += piece
    except TimeoutError:
        return b"nothing for too long after " + came
    except ConnectionResetError:
        pass
    return came


def say(words, to=PROXY):
    """Sends this, and gives all that comes back."""
    with socket.create_connection(to, timeout=PATIENCE) as connection:
        connection.sendall(words)
        connection.shutdown(socket.SHUT_WR)
        return everything(connection)


def word(answer):
    """Why the proxy refused, an alert of TLS, or the status and the body of an answer."""
    if answer.startswith(b"\x15\x03") and len(answer) > 6:
        return f"alert-{answer[6]}"
    text = answer.decode("latin-1")
    why = re.search(r"^why: ([a-z-]+):", text, re.MULTILINE)
    if why:
        return why[1]
    head, _, body = text.partition("\r\n\r\n")
    status = re.match(r"HTTP/1\.[01] (\d+)", head)
    if "transfer-encoding: chunked" in head.lower():
        body = "".join(re.split(r"(?:^|\r\n)[0-9a-f]+\r\n", body))
    return f"{status[1]} {body[:60]}".strip() if status else text[:60] or "no word"


def request(url, host=None, method="GET", more="", body=b""):
    """A request as it is sent to a proxy."""
    host = host or url.split("/")[2]
    return f"{method} {url} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n".encode() + body


def get(url, **more):
    """Asks the proxy for a URL in the clear."""
    return word(say(request(url, **more)))


def connect(target, host=None):
    """Asks the proxy for a tunnel, and says nothing in it."""
    return word(say(f"CONNECT {target} HTTP/1.1\r\nHost: {host or target}\r\n\r\n".encode()))


def tunnel(target):
    """A tunnel of the proxy's; a text where there is none."""
    connection = socket.create_connection(PROXY, timeout=PATIENCE)
    connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        piece = connection.recv(1)
        if not piece:
            break
        answer += piece
    return connection if answer.startswith(b"HTTP/1.1 200 ") else word(answer + everything(connection))


def secure(connection, name, protocols=("http/1.1",)):
    """TLS over a connection, for a server of this name; a text where there is none."""
    if isinstance(connection, str):
        return connection
    context = ssl.create_default_context()
    context.set_alpn_protocols(list(protocols))
    context.check_hostname = False
    try:
        return context.wrap_socket(connection, server_hostname=name)
    except ssl.SSLError as error:
        return error.reason or "SSL"
    except ConnectionResetError:
        return "ECONNRESET"


def over(connection, host, path="/", more=""):
    """Asks for a path over a connection to a host."""
    if isinstance(connection, str):
        return connection
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n".encode())
    return word(everything(connection))


def inside(target, name, host, path="/", more=""):
    """Asks for a path inside of TLS inside of a tunnel, each with a name of its own."""
    return over(secure(tunnel(target), name), host, path, more)


REPLIES = {0: "granted", 1: "failed", 2: "not-allowed", 4: "unreachable", 5: "refused", 7: "no-such-command",
           8: "no-such-address"}


def exactly(connection, count):
    """So many bytes, or fewer at the end."""
    came = b""
    while len(came) < count and (piece := connection.recv(count - len(came))):
        came += piece
    return came


def socks(host, port, command=1):
    """What SOCKS5 gives for a name or an address: the connection, or a text."""
    connection = socket.create_connection(PROXY, timeout=PATIENCE)
    connection.sendall(b"\x05\x01\x00")
    if exactly(connection, 2) != b"\x05\x00":
        return "no-greeting"
    try:
        where = b"\x01" + socket.inet_pton(socket.AF_INET, host)
    except (OSError, ValueError):
        try:
            where = b"\x04" + socket.inet_pton(socket.AF_INET6, host)
        except (OSError, ValueError):
            where = bytes([3, len(host)]) + host.encode()
    connection.sendall(bytes([5, command, 0]) + where + struct.pack(">H", port))
    reply = exactly(connection, 10)
    if reply[1:2] == b"\x00":
        return connection
    return REPLIES.get(reply[1], str(reply[1])) if len(reply) > 1 else "no word"


def socks_word(host, port, command=1):
    """The same, in a word."""
    told = socks(host, port, command)
    return told if isinstance(told, str) else "granted"


def resolve(name):
    """The address of a name."""
    try:
        return socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0]
    except socket.gaierror as error:
        return {socket.EAI_NONAME: "no-such-name", socket.EAI_AGAIN: "no-answer"}.get(error.errno, str(error))


def question(name, kind=1):
    """A question about a name."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", 0x4711, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)


def names(message, within=PATIENCE):
    """What the name server says: its code, and how many records."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(within)
        asking.sendto(message, NAMES)
        try:
            answer = asking.recv(4096)
        except TimeoutError:
            return "silence"
    code = {0: "fine", 1: "malformed", 2: "failed", 3: "no-such-name", 4: "not-known", 5: "refused"}
    return f"{code.get(answer[3] & 15)} {struct.unpack('>H', answer[6:8])[0]}"


def dial(address, port, kind=socket.SOCK_STREAM):
    """Connects to an address, with no proxy; a datagram is sent as well."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, kind) as connection:
        connection.settimeout(PATIENCE)
        connection.connect((address, port))
        if kind == socket.SOCK_DGRAM:
            connection.send(b"secret-by-datagram")
