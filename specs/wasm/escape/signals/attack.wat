;; A program sends no signal to the process that it runs in.
(func (export "_start")
  (call $tried (call $proc_raise (i32.const 6)))
  (call $tried (call $proc_raise (i32.const 9)))
  (call $tried (call $proc_raise (i32.const 15))))
