//! What the parts of the program log, on stderr: warnings where nothing else is said.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::failure::Failure;
use crate::resolved::Session;

/// The variable that says what is logged.
const VARIABLE: &str = "BAILIWICK_LOG";

/// Begins to log, as the session says.
pub(crate) fn begin(session: &Session) -> Result<(), Failure> {
    let targets = match session.environment.variables.get(VARIABLE).filter(|text| !text.is_empty()) {
        Some(text) => text.parse::<Targets>().map_err(|error| Failure::Argument {
            message: format!("{VARIABLE}: {error}"),
            hint: "for example warn, or info,bailiwick_http=debug".to_owned(),
        })?,
        None if session.verbose => Targets::new().with_default(LevelFilter::INFO),
        None => Targets::new().with_default(LevelFilter::WARN),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    // An error says that somebody logs already: then they do.
    let _is_first = tracing_subscriber::registry().with(targets).with(lines).try_init();
    Ok(())
}
