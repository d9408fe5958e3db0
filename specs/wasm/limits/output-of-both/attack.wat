;; 110 % of 64 KiB on one stream is cut before its end; 90 % on the other is whole.
(func $flood (param $stream i32) (param $left i32)
  (loop $again
    (i32.store (i32.const 0) (i32.const 65536))
    (i32.store (i32.const 4) (local.get $left))
    (call $works (call $fd_write (local.get $stream) (i32.const 0) (i32.const 1) (i32.const 8)))
    (local.set $left (i32.sub (local.get $left) (i32.load (i32.const 8))))
    (br_if $again (local.get $left))))
(func (export "_start")
  (memory.fill (i32.const 65536) (i32.const 120) (i32.const 131072))
  (call $flood (i32.const 1) (i32.const 72090))
  (call $escaped)
  (call $flood (i32.const 2) (i32.const 58982)))
