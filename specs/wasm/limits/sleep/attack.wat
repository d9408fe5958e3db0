;; One that waits a tenth longer than its time waits until its deadline.
(func (export "_start")
  (i32.store (i32.const 65552) (i32.const 1))
  (i64.store (i32.const 65560) (i64.const 2200000000))
  (drop (call $poll_oneoff (i32.const 65536) (i32.const 66048) (i32.const 1) (i32.const 16)))
  (call $escaped))
