//! Who hears what a call says: the client of the request that waits for it, as far as that asked to hear.
#![expect(deprecated, reason = "the lines of a console have no other way to a client yet")]

use std::sync::atomic::{AtomicU8, Ordering};

use bailiwick_types::LogLevel;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use serde_json::json;

use crate::Era;

/// From which level on a client wants to hear lines.
#[derive(Debug)]
pub(crate) struct Wanted(AtomicU8);

impl Default for Wanted {
    fn default() -> Self {
        Self(AtomicU8::new(NOTHING))
    }
}

/// More than any level.
const NOTHING: u8 = u8::MAX;

impl Wanted {
    pub(crate) fn set(&self, level: LoggingLevel) {
        self.0.store(rank(level), Ordering::Relaxed);
    }

    fn from(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

const fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

const fn level_of(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Log | LogLevel::Info => LoggingLevel::Info,
        LogLevel::Warn => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
    }
}

/// Who hears.
pub(crate) struct Audience {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    from: u8,
    logger: String,
}

impl Audience {
    /// Whoever made this request. Only what the request itself, or its session, asked for is sent.
    pub(crate) fn of(context: &RequestContext<RoleServer>, era: Era, session: &Wanted, logger: &str) -> Self {
        let from = match era {
            Era::Sessions => session.from(),
            Era::Stateless => context.meta.log_level().map_or(NOTHING, rank),
        };
        let token = context.meta.get_progress_token();
        Self { peer: context.peer.clone(), token, from, logger: logger.to_owned() }
    }

    /// A line of the console.
    pub(crate) async fn log(&self, level: LogLevel, text: String) {
        let level = level_of(level);
        if rank(level) < self.from {
            return;
        }
        let line = LoggingMessageNotificationParam::new(level, json!(text)).with_logger(&self.logger);
        // A client that is gone needs no lines; that it is gone is told by its request.
        let _ = self.peer.notify_logging_message(line).await;
    }

    /// How far the call is.
    pub(crate) async fn progress(&self, done: f64, of: Option<f64>, message: Option<String>) {
        let Some(token) = &self.token else { return };
        let mut told = ProgressNotificationParam::new(token.clone(), done);
        told.total = of;
        told.message = message;
        let _ = self.peer.notify_progress(told).await;
    }
}
