//! `ignored-test`: a test that does not run says nothing, and says it in green.

use crate::tidy::finding::Remark;
use crate::tidy::source::Source;

pub(super) fn look(source: &Source) -> Vec<Remark> {
    let said = source.attributes.iter().flat_map(|attribute| attribute.said(&source.tokens));
    said.filter(|meta| meta.path == "ignore")
        .map(|meta| {
            let instead = "make it run, or delete it";
            Remark::new(meta.line, "an ignored test", instead)
        })
        .collect()
}
