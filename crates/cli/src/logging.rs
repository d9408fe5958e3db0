//! What the parts of the program log, on stderr: warnings where nothing else is said. With the feature `otlp` also what a
//! collector of traces gets: the spans of requests, never what was sent.

use bailiwick_config::Environment;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::failure::Failure;
use crate::render::{Screen, plain, to_stderr, warning};
use crate::resolved::Session;

/// The variable that says what is logged.
const VARIABLE: &str = "BAILIWICK_LOG";
/// The variable that names a collector, as everywhere.
const COLLECTOR: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// Traces on their way to a collector.
#[cfg(feature = "otlp")]
type Traces = bailiwick_http::otlp::Traces;
/// There are none.
#[cfg(not(feature = "otlp"))]
type Traces = std::convert::Infallible;

/// A log that has begun.
pub(crate) struct Log {
    traces: Option<Traces>,
}

/// Begins to log, as the session says. Within a runtime: traces are sent from there.
pub(crate) fn begin(screen: &mut Screen, session: &Session) -> Result<Log, Failure> {
    let targets = match session.environment.variables.get(VARIABLE).filter(|text| !text.is_empty()) {
        Some(text) => text.parse::<Targets>().map_err(|error| Failure::Argument {
            message: format!("{VARIABLE}: {error}"),
            hint: "for example warn, or info,bailiwick_http=debug".to_owned(),
        })?,
        // What speaks MCP tells of each message, with what stands in it: only for whoever asks for it by name.
        None if session.verbose => {
            Targets::new().with_default(LevelFilter::INFO).with_target("rmcp", LevelFilter::ERROR)
        }
        None => Targets::new().with_default(LevelFilter::WARN).with_target("rmcp", LevelFilter::ERROR),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let (spans, traces) = match Environment::variable(COLLECTOR).filter(|address| !address.is_empty()) {
        Some(address) => to_collector(screen, &address.to_string_lossy())?.unzip(),
        None => (None, None),
    };
    // An error says that somebody logs already: then they do.
    let _is_first = tracing_subscriber::registry().with(lines.with_filter(targets)).with(spans).try_init();
    Ok(Log { traces })
}

/// Spans go to the collector at this address, whatever is logged beside. Only our own: those of what sends them would
/// never end.
#[cfg(feature = "otlp")]
fn to_collector<S>(
    screen: &mut Screen,
    address: &str,
) -> Result<Option<(impl Layer<S> + use<S>, Traces)>, Failure>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let (layer, traces) = bailiwick_http::otlp::otlp_layer(address).map_err(|error| Failure::Argument {
        message: format!("{COLLECTOR}: {error}"),
        hint: format!("unset {COLLECTOR} to send no traces"),
    })?;
    screen.note(&format!("traces go to {address} ({COLLECTOR})"));
    let ours = Targets::new().with_target("bailiwick", LevelFilter::INFO);
    Ok(Some((layer.with_filter(ours), traces)))
}

/// Nothing is sent, and whoever waits for traces is told why none come.
#[cfg(not(feature = "otlp"))]
#[expect(clippy::unnecessary_wraps, reason = "with the feature it can fail")]
fn to_collector<S>(screen: &mut Screen, _: &str) -> Result<Option<(impl Layer<S> + use<S>, Traces)>, Failure>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    screen.note(&format!("no traces are sent: {COLLECTOR} is set, and this program is built without `otlp`"));
    Ok(None::<(tracing_subscriber::layer::Identity, Traces)>)
}

impl Log {
    /// Hands over the traces that are left. It waits for the collector, for as long as that may take.
    pub(crate) fn end(self) {
        #[cfg(feature = "otlp")]
        let ended = self.traces.map_or(Ok(()), Traces::close);
        #[cfg(not(feature = "otlp"))]
        let ended = self.traces.map_or(Ok(()), Err);
        if let Err(error) = ended {
            to_stderr(&[warning("warning: "), plain(&error.to_string())]);
        }
    }
}
