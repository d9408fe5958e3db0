//! A view that began beside an owner stays beside it: it never becomes the owner itself. Whoever looks at questions did
//! not ask to run what calls want.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_core::{Boxed, Opening, Opens, Ownership, Performs, Refusal};
use bailiwick_types::ErrorCode;

/// Whether the view may own the data folder, and whether it lost who does.
#[derive(Debug, Clone, Default)]
pub(super) struct Stays {
    is_guest: Arc<AtomicBool>,
    has_lost: Arc<AtomicBool>,
}

impl Stays {
    /// From now on somebody else owns the data folder, or nobody.
    pub(super) fn as_guest(&self) {
        self.is_guest.store(true, Ordering::SeqCst);
    }

    /// What is said when the owner ended; none where it did not. `waited` questions were there.
    pub(super) fn ended(&self, waited: usize) -> Option<Refusal> {
        self.has_lost.load(Ordering::SeqCst).then(|| {
            let message = match waited {
                0 => "the server ended".to_owned(),
                1 => "the server ended: 1 question it had is a no".to_owned(),
                count => format!("the server ended: {count} questions it had are a no"),
            };
            Refusal::new(ErrorCode::Unavailable, message)
                .with_hint("start it again with bailiwick serve, then bailiwick approvals")
        })
    }

    /// Opens a data folder unless this is a guest.
    pub(super) fn opens(&self, opening: Opening) -> impl Opens + use<> {
        Guarded { opening, stays: self.clone() }
    }
}

struct Guarded {
    opening: Opening,
    stays: Stays,
}

impl Opens for Guarded {
    fn data(&self) -> &Path {
        self.opening.data()
    }

    fn under(&self) -> Option<String> {
        self.opening.under()
    }

    fn open(self: Box<Self>, ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        let Self { opening, stays } = *self;
        if stays.is_guest.load(Ordering::SeqCst) {
            stays.has_lost.store(true, Ordering::SeqCst);
            let refusal = Refusal::new(ErrorCode::Unavailable, "the server ended");
            return Box::pin(std::future::ready(Err(refusal)));
        }
        Box::new(opening).open(ownership)
    }
}
