;; Memory ends at the bound, and a program that cannot go on without more is out of memory.
(func (export "_start")
  (loop $again
    (if (i32.gt_u (memory.size) (i32.const 256)) (then (call $escaped) (call $proc_exit (i32.const 1))))
    (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
  unreachable)
