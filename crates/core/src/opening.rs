//! How a desk opens the core, once this process owns the data folder.

use std::path::Path;
use std::sync::Arc;

use crate::owner::{Boxed, Opens, Ownership, Performs};
use crate::{Action, Caller, Core, Opening, Refusal, Reply};

impl Opens for Opening {
    fn data(&self) -> &Path {
        &self.data
    }

    fn open(self: Box<Self>, ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        Box::pin(async move {
            let core = Core::open(*self).await?;
            let performs: Arc<dyn Performs> = Arc::new(Owned { core, _ownership: ownership });
            Ok(performs)
        })
    }
}

/// A core and its share of the lock: what still writes when the last action ended holds it.
struct Owned {
    // Before the lock, so that it is gone when the lock is.
    core: Core,
    _ownership: Ownership,
}

impl Performs for Owned {
    fn perform(&self, caller: Caller, action: Action) -> Boxed<Result<Reply, Refusal>> {
        let core = self.core.clone();
        Box::pin(async move { core.perform(caller, action).await })
    }

    fn close(&self) -> Boxed<Result<(), Refusal>> {
        let core = self.core.clone();
        Box::pin(async move { core.close().await })
    }
}
