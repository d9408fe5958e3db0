//! Programs in Python that tests run inside, and what they say there.

/// Tries what may be reached without a network. The port of a listener on the host takes the place of `HOST`.
pub const REACHES: &str = r"
import socket, threading
l = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen(1)
threading.Thread(target=lambda: l.accept()[0].sendall(b'loopback'), daemon=True).start()
print(socket.create_connection(l.getsockname(), timeout=5).recv(100).decode())
for to in [('10.0.0.1', 80), ('192.0.2.1', 443), ('169.254.169.254', 80), ('127.0.0.1', HOST)]:
    try: socket.create_connection(to, timeout=5); print('open', to)
    except OSError as e: print('closed')
for family, kind in [(socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_RAW), (40, socket.SOCK_STREAM)]:
    try: socket.socket(family, kind); print('a socket', family)
    except OSError as e: print('none')
";
/// What it says where nothing but loopback is reached.
pub const REACHED: &str = "loopback\nclosed\nclosed\nclosed\nclosed\nnone\nnone\nnone\n";

/// Asks a way out that decides.
pub const ASKS: &str = r"
import socket, urllib.request, urllib.error
def ask(url):
    try: print(len(urllib.request.urlopen(url, timeout=10).read()))
    except urllib.error.HTTPError as e: print(e.code)
ask('http://allowed.test/'); ask('http://refused.test/')
print(socket.create_connection(('127.64.0.9', 443), timeout=5).recv(100).decode())
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(5)
u.sendto(b'who', ('127.0.0.53', 53)); print(u.recv(100).decode())
print(len(open('/etc/bailiwick/authorities.pem').read()), open('/etc/resolv.conf').read().strip())
for to in [('127.0.0.1', 81), ('10.0.0.1', 80)]:
    try: socket.create_connection(to, timeout=5); print('open', to)
    except OSError as e: print('closed')
";
/// What it says then.
pub const ANSWERED: &str =
    "200000\n403\ndirect to 127.64.0.9:443\nheard who\n300000 nameserver 127.0.0.53\nclosed\nclosed\n";

/// Talks to a way out that tells.
pub const TALKS: &str = r"
import socket, os
def talk(to):
    s = socket.create_connection(to, timeout=5); s.sendall(b'hello'); print(s.recv(100).decode())
talk(('127.0.0.1', 3128)); talk(('127.64.0.9', 443)); talk(('127.64.0.7', 80))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(5)
u.sendto(b'who', ('127.0.0.53', 53)); print(u.recv(100).decode())
t = socket.create_connection(('127.0.0.53', 53), timeout=5); t.sendall(b'\0\3who'); print(t.recv(100)[2:].decode())
print(os.environ['HTTP_PROXY'], len(open('/etc/bailiwick/authorities.pem').read()), open('/etc/resolv.conf').read().strip())
for to in [('127.0.0.1', 81), ('10.0.0.1', 80), ('192.0.2.1', 443)]:
    try: socket.create_connection(to, timeout=5); print('open', to)
    except OSError as e: print(e.errno in (101, 111, 113))
";
/// What it says then.
pub const TALKED: &str = "proxied\ndirect to 127.64.0.9:443\ndirect to 127.64.0.7:80\nheard who\nheard who\n\
    http://127.0.0.1:3128 300000 nameserver 127.0.0.53\nTrue\nTrue\nTrue\n";

/// Answers at port 8000, for ever; `/work/ready` is there when it listens.
pub const SERVES: &str = r"
import socket
l = socket.socket(); l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); l.bind(('127.0.0.1', 8000)); l.listen(5)
open('/work/ready', 'w').close()
while True:
    c, _ = l.accept(); c.sendall(b'you said ' + c.recv(100)); c.close()
";
