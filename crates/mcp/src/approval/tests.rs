//! What a person is shown, and what counts as a yes.
