;; A program that computes for ever ends at its deadline.
(func (export "_start") (loop $again (br $again)))
