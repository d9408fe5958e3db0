;; One that needs nine tenths of its time ends by itself.
(func (export "_start")
  (i32.store (i32.const 65552) (i32.const 1))
  (i64.store (i32.const 65560) (i64.const 4500000000))
  (call $works (call $poll_oneoff (i32.const 65536) (i32.const 66048) (i32.const 1) (i32.const 16)))
  (call $number (i32.const 7)))
