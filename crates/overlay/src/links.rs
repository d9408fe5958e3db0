//! Where a link that a guest made may lead.

/// Whether a link at this depth (1 in the folder itself) leads out of the folder, or may.
///
/// From where the link is, `..` may go up as far as the folder. After a name it is never taken: that name may be a link
/// itself, and nobody can say where its `..` is.
pub(crate) fn leads_out(depth: usize, target: &[u8]) -> bool {
    if target.first() == Some(&b'/') {
        return true;
    }
    let mut up = 0_usize;
    let mut went_down = false;
    for name in target.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." if went_down => return true,
            b".." => up += 1,
            _ => went_down = true,
        }
    }
    up >= depth.max(1)
}
