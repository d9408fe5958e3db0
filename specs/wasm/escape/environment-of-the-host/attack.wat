;; The environment of whoever started the program is not a program's.
(data (i32.const 1024) "SECRET=")
(func (export "_start") (local $at i32) (local $end i32) (local $n i32)
  (call $works (call $environ_sizes_get (i32.const 16) (i32.const 20)))
  (call $works (call $environ_get (i32.const 65536) (i32.const 131072)))
  (local.set $end (i32.add (i32.const 131072) (i32.load (i32.const 20))))
  (local.set $at (i32.const 131072))
  ;; Every place in it is held against what is looked for.
  (loop $next
    (local.set $n (i32.const 0))
    (block $differs
      (loop $same
        (br_if $differs (i32.ne (i32.load8_u (i32.add (local.get $at) (local.get $n)))
          (i32.load8_u (i32.add (i32.const 1024) (local.get $n)))))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $same (i32.lt_u (local.get $n) (i32.const 7))))
      (call $escaped))
    (local.set $at (i32.add (local.get $at) (i32.const 1)))
    (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
  ;; All of it, so that a case sees what there is.
  (call $say (i32.const 131072) (i32.load (i32.const 20))))
