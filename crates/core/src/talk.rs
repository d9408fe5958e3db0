//! Talking with a command while it runs: what it says goes one way, what it is told the other. Whoever is slow makes the
//! other side wait; nothing is kept for them beyond a bound.

use std::pin::Pin;

pub use bailiwick_sandbox::{Chunk, Input};

/// Somebody who talks with a command.
pub trait Talk: Send + Sync {
    /// Takes some output, in order; whoever gives it waits until there is room for more.
    fn output(&self, chunk: Chunk) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// The next of the command's input, [`Input::Bytes`] or [`Input::End`]; none when nothing more will come. Nothing is lost
    /// when the future is dropped.
    fn input(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>>;

    /// The next that does not wait behind input: a signal, a size, an end; none when nothing more will come. Somebody who
    /// cannot take output any more says [`Input::Kill`] here. Nothing is lost when the future is dropped.
    fn urgent(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>>;
}

/// Says nothing and drops what it hears.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mute;

impl Talk for Mute {
    fn output(&self, _chunk: Chunk) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }

    fn input(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(std::future::ready(None))
    }

    fn urgent(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(std::future::ready(None))
    }
}
