;; Tables count as memory.
(table $table 1 funcref)
(func (export "_start")
  (loop $again
    (if (i32.gt_u (table.size $table) (i32.const 2097152)) (then (call $escaped) (call $proc_exit (i32.const 1))))
    (br_if $again (i32.ne (table.grow $table (ref.null func) (i32.const 65536)) (i32.const -1))))
  unreachable)
