;; How long the engine's own process computed is not told; what time it is is.
(func (export "_start")
  (call $works (call $clock_time_get (i32.const 0) (i64.const 1) (i32.const 16)))
  (call $works (call $clock_time_get (i32.const 1) (i64.const 1) (i32.const 16)))
  (call $tried (call $clock_time_get (i32.const 2) (i64.const 1) (i32.const 16)))
  (call $tried (call $clock_time_get (i32.const 3) (i64.const 1) (i32.const 16))))
