;; Memory ends at the bound, and a program that cannot go on without more is out of memory. What it has then is between 90 % and 110 %
;; of 16 MiB, in pages of 64 KiB.
(func (export "_start")
  (loop $again
    (if (i32.gt_u (memory.size) (i32.const 281)) (then (call $escaped) (call $proc_exit (i32.const 1))))
    (br_if $again (i32.ne (memory.grow (i32.const 4)) (i32.const -1))))
  (call $works (i32.lt_u (memory.size) (i32.const 230)))
  unreachable)
