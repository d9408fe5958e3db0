//! What clients carry, and what is refused of it.
