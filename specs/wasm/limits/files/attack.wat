;; Its files take what they may, and no more: between 90 % and 110 % of 4 MiB, in pieces of 64 KiB.
(data (i32.const 1024) "big\00")
(func (export "_start") (local $error i32) (local $turns i32)
  (call $works (call $make (i32.const 3) (i32.const 1024)))
  (i32.store (i32.const 32) (i32.load (i32.const 16)))
  (loop $again
    (i32.store (i32.const 0) (i32.const 65536))
    (i32.store (i32.const 4) (i32.const 65536))
    (local.set $error (call $fd_write (i32.load (i32.const 32)) (i32.const 0) (i32.const 1) (i32.const 8)))
    (local.set $turns (i32.add (local.get $turns) (i32.const 1)))
    (if (i32.gt_u (local.get $turns) (i32.const 70)) (then (call $escaped) (call $proc_exit (i32.const 1))))
    (br_if $again (i32.eqz (local.get $error))))
  (call $works (i32.lt_u (local.get $turns) (i32.const 58)))
  (call $number (local.get $error)))
