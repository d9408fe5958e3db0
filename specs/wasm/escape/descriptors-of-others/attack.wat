;; A program has its streams and its folders, and no other descriptor that is open around it.
(func (export "_start") (local $number i32)
  (call $works (call $fd_filestat_get (i32.const 1) (i32.const 65536)))
  ;; 3 is /tmp, 4 is /work, and 5 is where it begins.
  (call $works (call $fd_filestat_get (i32.const 5) (i32.const 65536)))
  (local.set $number (i32.const 6))
  (loop $next
    (if (i32.ne (call $fd_filestat_get (local.get $number) (i32.const 65536)) (i32.const 8)) (then (call $escaped)))
    (local.set $number (i32.add (local.get $number) (i32.const 1)))
    (br_if $next (i32.lt_u (local.get $number) (i32.const 1024))))
  (call $number (local.get $number)))
