;; No file is moved out of a folder, and none from outside into it.
(data (i32.const 1024) "here\00")
(data (i32.const 1056) "../outside/moved\00")
(data (i32.const 1088) "../outside/secret\00")
(data (i32.const 1120) "mine\00")
(func (export "_start")
  (call $works (call $open (i32.const 3) (i32.const 1024)))
  (call $tried (call $path_rename (i32.const 3) (i32.const 1024) (i32.const 4) (i32.const 3) (i32.const 1056) (i32.const 16)))
  (call $tried (call $path_rename (i32.const 3) (i32.const 1088) (i32.const 17) (i32.const 3) (i32.const 1120) (i32.const 4))))
