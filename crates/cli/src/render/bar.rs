//! How far something is, as a bar on stderr: only at a terminal, and gone when it is done.

use bailiwick_core::{Event, Listener};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar, or none where nobody wants one; without a terminal there is none either.
    pub(crate) fn new(is_hidden: bool) -> Self {
        let target = if is_hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Self(ProgressBar::with_draw_target(None, target).with_style(ProgressStyle::default_spinner()))
    }

    /// Takes it away.
    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl Listener for Bar {
    fn hear(&self, event: Event) {
        let Event::Progress { done, of } = event else { return };
        if self.0.length() != of || done < self.0.position() {
            // Another part of the work: it begins anew.
            let style = match of {
                Some(_) => ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec}"),
                None => ProgressStyle::with_template("{spinner} {bytes} {bytes_per_sec}"),
            };
            if let Ok(style) = style {
                self.0.set_style(style);
            }
            self.0.reset();
            match of {
                Some(of) => self.0.set_length(of),
                None => self.0.unset_length(),
            }
        }
        self.0.set_position(done);
    }
}
