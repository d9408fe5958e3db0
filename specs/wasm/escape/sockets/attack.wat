;; No call of WASI 0.1 gives a connection.
(func (export "_start") (local $number i32)
  (loop $next
    (call $tried (call $sock_accept (local.get $number) (i32.const 0) (i32.const 16)))
    (call $tried (call $sock_send (local.get $number) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 16)))
    (call $tried (call $sock_recv (local.get $number) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 16) (i32.const 20)))
    (call $tried (call $sock_shutdown (local.get $number) (i32.const 3)))
    (local.set $number (i32.add (local.get $number) (i32.const 3)))
    (br_if $next (i32.lt_u (local.get $number) (i32.const 12)))))
