;; A program that wants a gigabyte before it begins does not begin.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 16384)
  (func (export "_start") (call $exit (i32.const 1))))
