//! The names of tools that are our own, on a server that speaks MCP: those there are, and those nobody else may have.

/// The native tools that an operator can switch on, by name.
pub const NATIVE_TOOLS: &[&str] = &[
    "run_javascript",
    "describe_runtime",
    "run_command",
    "run_python",
    "sandbox_create",
    "sandbox_exec",
    "sandbox_poll",
    "sandbox_kill",
    "sandbox_read_file",
    "sandbox_write_file",
    "sandbox_list_files",
    "sandbox_upload",
    "sandbox_download",
    "sandbox_expose",
    "sandbox_close",
];

/// Those of them that do something, so that a person can be asked first.
pub const NATIVE_TOOLS_THAT_RUN: &[&str] = &[
    "run_javascript",
    "run_command",
    "run_python",
    "sandbox_create",
    "sandbox_exec",
    "sandbox_poll",
    "sandbox_kill",
    "sandbox_read_file",
    "sandbox_write_file",
    "sandbox_list_files",
    "sandbox_upload",
    "sandbox_download",
    "sandbox_expose",
    "sandbox_close",
];

/// Names that native tools have or will have.
const RESERVED: &[&str] =
    &["run_javascript", "describe_runtime", "run_command", "run_python", "run_code", "describe_tools"];

/// What the names of whole families of native tools begin with.
const RESERVED_FAMILIES: &[&str] = &["sandbox_"];

/// Whether a name is kept for native tools. One that only looks like such a name to a reader is kept as well: case and
/// the signs between words do not tell two names apart.
pub fn is_reserved_tool_name(name: &str) -> bool {
    let plain: String =
        name.trim().chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    RESERVED.contains(&plain.as_str()) || RESERVED_FAMILIES.iter().any(|family| plain.starts_with(family))
}
