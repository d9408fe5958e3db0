;; No folder that a program is handed is the root of anything.
(data (i32.const 1024) "etc/passwd\00")
(data (i32.const 1056) "../.wasm/compiled\00")
(func (export "_start") (local $number i32)
  (local.set $number (i32.const 3))
  (loop $next
    (if (i32.eqz (call $fd_prestat_get (local.get $number) (i32.const 16))) (then
      (call $tried (call $open (local.get $number) (i32.const 1024)))
      (call $tried (call $open (local.get $number) (i32.const 1056)))
      (local.set $number (i32.add (local.get $number) (i32.const 1)))
      (br $next)))))
