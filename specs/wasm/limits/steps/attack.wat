;; A program has as many steps as the operator lets it have.
(func (export "_start") (loop $again (br $again)))
