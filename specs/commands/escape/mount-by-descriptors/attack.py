OPEN_TREE_CLONE, AT_FDCWD = 1, -100
wall = "EPERM|ENOSYS"
attempt("fsopen", wall, lambda: call("fsopen", b"tmpfs", 0))
attempt("fsmount", wall, lambda: call("fsmount", -1, 0, 0))
attempt("fspick", wall, lambda: call("fspick", AT_FDCWD, b"/", 0))
attempt("open_tree", wall, lambda: call("open_tree", AT_FDCWD, b"/", OPEN_TREE_CLONE))
attempt("move_mount", wall, lambda: call("move_mount", -1, b"", -1, b"", 0))
attempt("mount_setattr", wall, lambda: call("mount_setattr", AT_FDCWD, b"/", 0, None, 0))
verdict()
