//! What a program says on a connection that is for one host: TLS that names this host, or plain requests that do.
//! Anything else is refused, and nothing of it is passed on before it was seen.

use bailiwick_policy::{Checked, EgressTarget, HostName};
use bailiwick_types::{Denial, DenialReason};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::exchange::Held;
use super::hello::{Hello, MOST_BYTES, read_hello};
use super::line::{Line, part, splice};
use super::requests::{Over, Speaking, serve};
use super::way::{Form, Opened, Purpose, Way};
use super::words::{self, Alert, alert, refused, tell};

/// How a TLS record begins.
pub(super) const TLS: u8 = 22;
/// Where only TLS is spoken.
const HTTPS: u16 = 443;

/// Serves a connection for one host, whose first words are still to come. `opened` is the way there, where there is one.
pub(super) async fn serve_host(
    way: &Way,
    mut line: Line,
    target: &Checked<EgressTarget>,
    opened: Option<Opened>,
) {
    let first = match timeout(way.bounds.head, line.reader.first()).await {
        Ok(Ok(Some(first))) => first,
        Ok(Ok(None) | Err(_)) => return,
        Err(_) => return silent(way, target),
    };
    match first {
        TLS => tls(way, line, target, opened).await,
        b'A'..=b'Z' | b'a'..=b'z' if target.get().port() != HTTPS => {
            let opened = opened.filter(|opened| matches!(opened.form, Form::Origin));
            let held = opened.map(|opened| Held::new(target, Over::Plain, opened));
            serve(way, &mut line, &Speaking::Host(target, Over::Plain), held).await;
        }
        b'A'..=b'Z' | b'a'..=b'z' => tell(&mut line, &refused(way, *not_spoken(way, target))).await,
        _ => {
            way.refused(*not_spoken(way, target));
            part(&mut line, way.bounds.head).await;
        }
    }
}

fn not_spoken(way: &Way, target: &Checked<EgressTarget>) -> Box<Denial> {
    way.policy.refuse(format!("speak to {}", target.get()), DenialReason::BadProtocol)
}

/// Writes down that nothing was said: who waits to be spoken to first speaks neither TLS nor HTTP.
fn silent(way: &Way, target: &Checked<EgressTarget>) {
    way.refused(*not_spoken(way, target));
}

/// Serves a connection that speaks TLS, or should.
pub(super) async fn tls(way: &Way, mut line: Line, target: &Checked<EgressTarget>, opened: Option<Opened>) {
    let greeting = timeout(way.bounds.head, greeted(&mut line)).await;
    let named = match greeting {
        Ok(Ok(named)) => named,
        // Who leaves without a word was not refused anything.
        Ok(Err(_)) if line.reader.unread().is_empty() => return,
        Ok(Err(why)) => {
            let asked = format!("speak to {}: {why}", target.get());
            way.refused(*way.policy.refuse(asked, DenialReason::BadProtocol));
            return alert(&mut line, Alert::UnrecognizedName).await;
        }
        Err(_) => return silent(way, target),
    };
    if let Err(denial) = is_named(way, target.get(), named.as_deref()) {
        way.refused(*denial);
        return alert(&mut line, Alert::UnrecognizedName).await;
    }
    if let (Some(authority), HostName::Domain(host)) = (&way.authority, target.get().host()) {
        let Ok(server) = authority.server_for(host) else {
            return alert(&mut line, Alert::InternalError).await;
        };
        let accepting = TlsAcceptor::from(server).accept(line.into_one());
        // A program that does not believe our authority goes away here, and says why by itself.
        if let Ok(Ok(stream)) = timeout(way.bounds.head, accepting).await {
            serve(way, &mut Line::new(stream), &Speaking::Host(target, Over::Tls), None).await;
        }
        return;
    }
    if let Err(denial) = way.policy.tunnel(target) {
        way.refused(*denial);
        return alert(&mut line, Alert::AccessDenied).await;
    }
    let opened = match opened {
        Some(opened) => Ok(opened),
        None => way.open(target, Purpose::Tunnel).await,
    };
    match opened {
        Ok(mut opened) => splice(&mut line, &mut opened.line, way.bounds.idle).await,
        Err(unreached) => {
            let told = words::told(way, unreached);
            let because = if told.status == 403 { Alert::AccessDenied } else { Alert::InternalError };
            alert(&mut line, because).await;
        }
    }
}

/// Reads up to the end of the client's greeting, which stays unread, and gives the name in it.
async fn greeted(line: &mut Line) -> Result<Option<String>, &'static str> {
    loop {
        match read_hello(line.reader.unread()) {
            Hello::Whole { name } => return Ok(name),
            Hello::Unsound(why) => return Err(why),
            Hello::Partial if line.reader.unread().len() > MOST_BYTES => {
                return Err("the greeting of TLS is larger than it may be");
            }
            Hello::Partial => match line.reader.fill().await {
                Ok(0) | Err(_) => return Err("the greeting of TLS is cut"),
                Ok(_) => {}
            },
        }
    }
}

/// Whether the name of a greeting is the host's.
fn is_named(way: &Way, target: &EgressTarget, named: Option<&str>) -> Result<(), Box<Denial>> {
    let no = |asked: String| way.policy.refuse(asked, DenialReason::ServerName);
    let Some(named) = named else {
        return Err(no(format!("TLS to {target} without the name of a server")));
    };
    match HostName::parse(named) {
        Ok(host @ HostName::Domain(_)) if host == *target.host() => Ok(()),
        _ => Err(no(format!("TLS to {target} for {named}"))),
    }
}
