//! Programs that were written for tests, as text.

/// What a program of WASI 0.1 imports, with a memory and a way to end.
fn module(body: &str) -> String {
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  {body})"#
    )
}

/// Runs instructions from the beginning.
pub(crate) fn program(instructions: &str) -> String {
    module(&format!(r#"(func (export "_start") {instructions})"#))
}

/// Ends with this code.
pub(crate) fn exits(code: u32) -> String {
    program(&format!("(call $exit (i32.const {code}))"))
}

/// Says a text.
pub(crate) fn says(text: &str) -> String {
    let length = text.len();
    module(&format!(
        r#"(data (i32.const 100) "{text}")
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const {length}))
    (call $exit (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))"#
    ))
}

/// Says its variables, each with a NUL behind it.
pub(crate) fn says_its_variables() -> String {
    r#"(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ (param i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "_start")
    (if (call $sizes (i32.const 0) (i32.const 4)) (then (unreachable)))
    (if (call $environ (i32.const 4096) (i32.const 65536)) (then (unreachable)))
    (i32.store (i32.const 0) (i32.const 65536))
    (call $exit (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#
        .to_owned()
}

/// Says back what it reads, until there is no more.
pub(crate) fn echoes() -> String {
    module(
        r#"(func (export "_start")
    (loop $again
      (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 4096))
      (if (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)) (then (unreachable)))
      (if (i32.load (i32.const 8)) (then
        (i32.store (i32.const 4) (i32.load (i32.const 8)))
        (if (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 12)) (then (unreachable)))
        (br $again)))))"#,
    )
}

/// Opens a path below a folder that it was handed, and ends with what the engine said: 0, or the number of an error.
pub(crate) fn opens(descriptor: u32, path: &str, making: bool) -> String {
    let length = path.len();
    // A file that is made is written to; one that is not is read.
    let (flags, rights) = if making { (1, 64 | 2) } else { (0, 2) };
    module(&format!(
        r#"(data (i32.const 100) "{path}")
  (func (export "_start")
    (call $exit (call $open (i32.const {descriptor}) (i32.const 1) (i32.const 100) (i32.const {length})
      (i32.const {flags}) (i64.const {rights}) (i64.const {rights}) (i32.const 0) (i32.const 8))))"#
    ))
}

/// Writes to a new file, 64 KiB at a time, until that fails; ends with the number of the error.
pub(crate) fn fills_the_disk() -> String {
    module(
        r#"(data (i32.const 100) "big")
  (func (export "_start") (local $error i32)
    (if (call $open (i32.const 3) (i32.const 1) (i32.const 100) (i32.const 3)
      (i32.const 1) (i64.const 66) (i64.const 66) (i32.const 0) (i32.const 8)) (then (unreachable)))
    (i32.store (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (i32.const 65536))
    (loop $again
      (local.set $error (call $write (i32.load (i32.const 8)) (i32.const 0) (i32.const 1) (i32.const 12)))
      (br_if $again (i32.eqz (local.get $error))))
    (call $exit (local.get $error)))"#,
    )
}

/// Opens its own folder again and again until that fails; ends with the number of the error.
pub(crate) fn opens_everything() -> String {
    module(
        r#"(data (i32.const 100) ".")
  (func (export "_start") (local $error i32)
    (loop $again
      (local.set $error (call $open (i32.const 3) (i32.const 1) (i32.const 100) (i32.const 1)
        (i32.const 2) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 8)))
      (br_if $again (i32.eqz (local.get $error))))
    (call $exit (local.get $error)))"#,
    )
}

/// Sleeps for an hour.
pub(crate) fn sleeps() -> String {
    // A subscription: its user data, a clock (0), which one (1: monotonic), how long, how exactly, and from when.
    program(
        "(i32.store8 (i32.const 8) (i32.const 0)) (i32.store (i32.const 16) (i32.const 1))
         (i64.store (i32.const 24) (i64.const 3600000000000))
         (call $exit (call $poll (i32.const 0) (i32.const 512) (i32.const 1) (i32.const 1024)))",
    )
}

/// Says something without end.
pub(crate) fn talks() -> String {
    program(
        "(i32.store (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (i32.const 65536))
         (loop $again (br_if $again (i32.eqz (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 65536)))))",
    )
}

/// A component that ends well, or not.
pub(crate) fn component(ends_well: bool) -> String {
    let result = u32::from(!ends_well);
    format!(
        r#"(component
  (core module $code (func (export "run") (result i32) (i32.const {result})))
  (core instance $code (instantiate $code))
  (func $run (result (result)) (canon lift (core func $code "run")))
  (instance $exported (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $exported)))"#
    )
}

/// A component that makes a socket, and ends well only if it gets one.
pub(crate) fn component_with_a_socket() -> String {
    r#"(component
  (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
  (import "wasi:sockets/network@0.2.0" (instance $network
    (export "network" (type (sub resource)))
    (type $code (enum "unknown" "access-denied" "not-supported" "invalid-argument" "out-of-memory" "timeout"
      "concurrency-conflict" "not-in-progress" "would-block" "invalid-state" "new-socket-limit"
      "address-not-bindable" "address-in-use" "remote-unreachable" "connection-refused" "connection-reset"
      "connection-aborted" "datagram-too-large" "name-unresolvable" "temporary-resolver-failure"
      "permanent-resolver-failure"))
    (export "error-code" (type (eq $code)))
    (type $family (enum "ipv4" "ipv6"))
    (export "ip-address-family" (type (eq $family)))))
  (alias export $network "error-code" (type $code))
  (alias export $network "ip-address-family" (type $family))
  (import "wasi:sockets/tcp@0.2.0" (instance $tcp (export "tcp-socket" (type (sub resource)))))
  (alias export $tcp "tcp-socket" (type $socket))
  (import "wasi:sockets/tcp-create-socket@0.2.0" (instance $create
    (alias outer 1 $code (type $theirs)) (export "error-code" (type $code (eq $theirs)))
    (alias outer 1 $family (type $kind)) (export "ip-address-family" (type $family (eq $kind)))
    (alias outer 1 $socket (type $thing)) (export "tcp-socket" (type $socket (eq $thing)))
    (type $made (own $socket))
    (type $result (result $made (error $code)))
    (export "create-tcp-socket" (func (param "address-family" $family) (result $result)))))
  (core module $memory (memory (export "memory") 1))
  (core instance $memory (instantiate $memory))
  (core func $create (canon lower (func $create "create-tcp-socket") (memory (core memory $memory "memory"))))
  (core module $code
    (import "sockets" "create" (func $create (param i32 i32)))
    (import "memory" "memory" (memory 1))
    (func (export "run") (result i32)
      (call $create (i32.const 0) (i32.const 16))
      (i32.load8_u (i32.const 16))))
  (core instance $code (instantiate $code
    (with "sockets" (instance (export "create" (func $create))))
    (with "memory" (instance $memory))))
  (func $run (result (result)) (canon lift (core func $code "run")))
  (instance $exported (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $exported)))"#
        .to_owned()
}
