//! WebAssembly as text, turned into what a program takes.

/// A module or a component. A text that is neither is the rest of a module with this beginning.
pub(super) fn module(beginning: &str, text: &str) -> Result<Vec<u8>, String> {
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with(";;"));
    let is_whole = first.is_some_and(|line| line.starts_with("(module") || line.starts_with("(component"));
    let whole = if is_whole { text.to_owned() } else { format!("(module\n{beginning}\n{text})\n") };
    wat::parse_str(&whole).map_err(|error| error.to_string())
}
