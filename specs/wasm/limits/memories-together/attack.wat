;; Several memories have one bound together.
(memory $second 1)
(func (export "_start")
  (loop $again (br_if $again (i32.ne (memory.grow 0 (i32.const 16)) (i32.const -1))))
  (loop $again (br_if $again (i32.ne (memory.grow $second (i32.const 16)) (i32.const -1))))
  (if (i32.gt_u (i32.add (memory.size 0) (memory.size $second)) (i32.const 256)) (then (call $escaped)))
  unreachable)
