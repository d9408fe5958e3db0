;; So does one that never gets as far as its beginning.
(func $forever (loop $again (br $again)))
(start $forever)
(func (export "_start") (call $escaped))
