//! `unfinished`: what is not done is done or written down as an issue, not
//! left as a macro that panics or a comment that nobody reads.

use crate::tidy::comments::Comment;
use crate::tidy::finding::Remark;
use crate::tidy::source::Source;

const MACROS: &[&str] = &["todo", "unimplemented"];
const MARKERS: &[&str] = &["TODO", "FIXME", "XXX"];

pub(super) fn look(source: &Source) -> Vec<Remark> {
    let tokens = &source.tokens;
    let calls = tokens
        .idents()
        .filter(|(index, _, word)| MACROS.contains(word) && tokens.is_macro_call(*index))
        .map(|(_, line, word)| {
            Remark::new(
                line,
                format!("`{word}!` in the tree"),
                "write it, or leave out what cannot be done yet",
            )
        });
    calls.chain(source.comments.iter().flat_map(markers)).collect()
}

fn markers(comment: &Comment) -> Vec<Remark> {
    let lines = comment.text.lines().zip(comment.line..);
    let words = lines.flat_map(|(text, line)| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').map(move |word| (word, line))
    });
    words
        .filter(|(word, _)| MARKERS.contains(word))
        .map(|(word, line)| {
            Remark::new(
                line,
                format!("{word} in a comment"),
                "do it now, or open an issue and drop the comment",
            )
        })
        .collect()
}
