//! What is in the root of every sandbox beside its programs: a few files of the host's `/etc` that programs need, and our own for the
//! rest. Nothing of anybody's home, no `/etc` as a whole.

/// What programs look for in `/etc` and everybody may know.
pub const SHARED: [&str; 18] = [
    "/etc/os-release",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/mime.types",
    "/etc/magic",
    "/etc/perl",
    "/etc/python3",
    "/etc/python3.11",
    "/etc/java-17-openjdk",
    "/etc/terminfo",
];

/// Files that say who is who; an image has its own.
pub const IDENTITIES: [(&str, &str); 3] = [
    (
        "/etc/passwd",
        "root:x:0:0:root:/:/usr/sbin/nologin\nsandbox:x:1000:1000:sandbox:/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
    ),
    ("/etc/group", "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"),
    ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
];

/// Files that say where one is.
pub const WHERE: [(&str, &str); 3] = [
    ("/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"),
    ("/etc/hostname", "sandbox\n"),
    ("/etc/resolv.conf", "# no name can be resolved here\n"),
];
