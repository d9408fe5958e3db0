//! `allow-reason`: an exception to a lint says why. The lint sees to that in
//! what is compiled; this sees also what a `cfg` hides.

use crate::tidy::attributes::Meta;
use crate::tidy::finding::Remark;
use crate::tidy::source::Source;
use crate::tidy::tokens::Tokens;

pub(super) fn look(source: &Source) -> Vec<Remark> {
    let tokens = &source.tokens;
    let said = source.attributes.iter().flat_map(|attribute| attribute.said(tokens));
    said.filter(|meta| matches!(meta.path.as_str(), "allow" | "expect") && !has_reason(tokens, meta))
        .map(|meta| {
            let wrong = format!("`{}` without a reason", meta.path);
            Remark::new(meta.line, wrong, "add `reason = \"...\"`, or do as the lint says")
        })
        .collect()
}

fn has_reason(tokens: &Tokens, meta: &Meta) -> bool {
    tokens.split_at_commas(meta.arguments.clone()).into_iter().any(|piece| {
        let text = tokens.literal(piece.start + 2).unwrap_or_default();
        tokens.ident(piece.start) == Some("reason")
            && tokens.is_punct(piece.start + 1, '=')
            && text.chars().any(char::is_alphanumeric)
    })
}
