//! Tokens of an OAuth server, which count beside keys: signed by a key that the issuer publishes, meant for us, in time.
//!
//! Which algorithm counts is said by the issuer's key, never by the token. It must never take a symmetric one: whoever
//! knows the public key could then sign.

mod address;
mod keys;
#[cfg(test)]
mod tests;
mod verify;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use bailiwick_config::{JwksPlace, Jwt, Settings, files};
use bailiwick_types::{Scope, Scopes};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Validation, decode, decode_header};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;

use self::address::Address;
use self::keys::{Keys, Signer};
use crate::listen::ServeError;

/// How far the clocks of an issuer and ours may be apart, in seconds.
const LEEWAY: u64 = 30;
/// How old the issuer's keys may be before they are read again, while nobody waits for that.
const FRESH: Duration = Duration::from_mins(10);
/// How old they may be before whoever shows a token waits until they were read again: an issuer may have withdrawn one.
const STALE: Duration = Duration::from_mins(20);
/// How often a key that we do not know makes us read them again.
const AT_MOST_EVERY: Duration = Duration::from_mins(1);
/// The longest name of whoever a token speaks of.
const MOST_SUBJECT: usize = 128;

/// A token that was shown and holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenShown {
    /// Whom it speaks of.
    pub subject: String,
    /// What it covers.
    pub scopes: Scopes,
}

/// When a token that was checked ends, in seconds since 1970.
pub(super) fn end_of(token: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct End {
        exp: f64,
    }
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let end: End = serde_json::from_slice(&claims).ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates"
    )]
    Some(end.exp as u64)
}

/// Why a token does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAToken {
    /// Not the shape of one.
    #[error("the token cannot be read")]
    Malformed,
    /// An algorithm that does not count, or another one than its key is for.
    #[error("the token is signed in a way that does not count here")]
    Algorithm,
    /// Signed by a key that the issuer does not publish.
    #[error("the token is signed by a key that its issuer does not publish")]
    UnknownKey,
    /// Not signed by that key.
    #[error("the signature of the token is wrong")]
    Signature,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// Its time has not come.
    #[error("the token does not hold yet")]
    NotYet,
    /// Somebody else's.
    #[error("the token is of another issuer")]
    Issuer,
    /// Meant for somebody else.
    #[error("the token is meant for another audience")]
    Audience,
    /// It lacks what every token has to say.
    #[error("the token lacks a claim: exp, iss, aud and sub have to be there")]
    Lacks,
    /// Whom it speaks of cannot be shown.
    #[error("the sub of the token is empty, too long, or has characters that cannot be shown")]
    Subject,
}

/// A text that is read again and again: the issuer's keys.
pub trait KeySource: Send + Sync {
    /// Reads it, or says why that failed.
    fn read(&self) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + '_>>;
}

struct File(PathBuf);

impl KeySource for File {
    fn read(&self) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + '_>> {
        let path = self.0.clone();
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || files::read_document(&path));
            match read.await {
                Ok(Ok(text)) => Ok(text),
                Ok(Err(error)) => Err(error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        })
    }
}

/// The keys of the issuer, and when they were read.
#[derive(Default)]
struct Known {
    keys: Keys,
    read: Option<Instant>,
}

struct Inner {
    issuer: String,
    audience: String,
    most: Scopes,
    source: Box<dyn KeySource>,
    known: ArcSwap<Known>,
    /// When it was last tried to read the keys; held while they are read.
    tried: Mutex<Option<Instant>>,
}

/// Checks tokens of one issuer.
#[derive(Clone)]
pub struct Tokens(Arc<Inner>);

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("issuer", &self.0.issuer).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Claims {
    sub: Option<String>,
    #[serde(default)]
    scope: String,
}

impl Tokens {
    /// As the operator's settings say. Keys in a file have to be there; an issuer that does not answer is asked again
    /// when the first token comes.
    pub async fn open(jwt: &Jwt, settings: &Settings) -> Result<Self, ServeError> {
        let source: Box<dyn KeySource> = match &jwt.jwks {
            JwksPlace::File(path) => Box::new(File(path.clone())),
            JwksPlace::Address(address) => Box::new(Address::new(address, settings)?),
        };
        let tokens = Self::with(jwt, source);
        match tokens.read_again(Duration::ZERO).await {
            Err(why) if matches!(jwt.jwks, JwksPlace::File(_)) => Err(ServeError::Tokens(why)),
            Err(why) => {
                tracing::warn!(
                    why,
                    "the issuer's keys cannot be read; its tokens do not count until they can"
                );
                Ok(tokens)
            }
            Ok(()) => Ok(tokens),
        }
    }

    /// With keys from there.
    pub fn with(jwt: &Jwt, source: Box<dyn KeySource>) -> Self {
        verify::install();
        let Jwt { issuer, audience, jwks: _, scopes } = jwt;
        Self(Arc::new(Inner {
            issuer: issuer.clone(),
            audience: audience.clone(),
            most: *scopes,
            source,
            known: ArcSwap::from_pointee(Known::default()),
            tried: Mutex::new(None),
        }))
    }

    /// Whose token it is.
    pub async fn check(&self, token: &str) -> Result<TokenShown, NotAToken> {
        let header = decode_header(token).map_err(|error| match error.kind() {
            // An algorithm that nobody has heard of makes the whole head unreadable.
            ErrorKind::InvalidAlgorithmName | ErrorKind::UnsupportedAlgorithm | ErrorKind::Json(_) => {
                NotAToken::Algorithm
            }
            _ => NotAToken::Malformed,
        })?;
        if header.crit.is_some() || header.enc.is_some() || header.zip.is_some() {
            return Err(NotAToken::Malformed);
        }
        let signer = self.signer(header.kid.as_deref()).await.ok_or(NotAToken::UnknownKey)?;
        if header.alg != signer.algorithm {
            return Err(NotAToken::Algorithm);
        }
        let mut rules = Validation::new(signer.algorithm);
        rules.leeway = LEEWAY;
        rules.validate_nbf = true;
        rules.set_issuer(&[&self.0.issuer]);
        rules.set_audience(&[&self.0.audience]);
        rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let claims =
            decode::<Claims>(token, &signer.key, &rules).map_err(|error| refused(error.kind()))?.claims;
        let subject = claims.sub.ok_or(NotAToken::Lacks)?;
        if !may_be_shown(&subject) {
            return Err(NotAToken::Subject);
        }
        // A scope of another service is none of ours.
        let asked = claims.scope.split(' ').filter_map(|word| word.parse::<Scope>().ok());
        let scopes = Scopes::of(asked.filter(|scope| self.0.most.covers(*scope)));
        Ok(TokenShown { subject, scopes })
    }

    /// The key that signed it, read again where it is not known or what is known is old.
    async fn signer(&self, kid: Option<&str>) -> Option<Signer> {
        let age = self.0.known.load().read.map(|at| at.elapsed());
        match age {
            Some(age) if age >= STALE => self.try_to_read().await,
            Some(age) if age >= FRESH => self.read_beside(),
            _ => {}
        }
        if let Some(signer) = self.0.known.load().keys.find(kid) {
            return Some(signer);
        }
        self.try_to_read().await;
        self.0.known.load().keys.find(kid)
    }

    /// Reads the keys in the background: nobody waits for that.
    fn read_beside(&self) {
        let Ok(tried) = self.0.tried.try_lock() else { return };
        let tried_lately = tried.is_some_and(|at| at.elapsed() < AT_MOST_EVERY);
        drop(tried);
        if !tried_lately {
            let tokens = self.clone();
            tokio::spawn(async move { tokens.try_to_read().await });
        }
    }

    async fn try_to_read(&self) {
        if let Err(why) = self.read_again(AT_MOST_EVERY).await {
            tracing::warn!(why, "the issuer's keys cannot be read; those from before are kept");
        }
    }

    /// Reads the keys, unless that was tried a short while ago. What cannot be read changes nothing.
    async fn read_again(&self, at_most_every: Duration) -> Result<(), String> {
        let mut tried = self.0.tried.lock().await;
        if tried.is_some_and(|at| at.elapsed() < at_most_every) {
            return Ok(());
        }
        *tried = Some(Instant::now());
        let keys = Keys::read(&self.0.source.read().await?)?;
        self.0.known.store(Arc::new(Known { keys, read: Some(Instant::now()) }));
        Ok(())
    }
}

fn refused(kind: &ErrorKind) -> NotAToken {
    match kind {
        ErrorKind::InvalidSignature => NotAToken::Signature,
        ErrorKind::ExpiredSignature => NotAToken::Expired,
        ErrorKind::ImmatureSignature => NotAToken::NotYet,
        ErrorKind::InvalidIssuer => NotAToken::Issuer,
        ErrorKind::InvalidAudience => NotAToken::Audience,
        ErrorKind::InvalidAlgorithm | ErrorKind::UnsupportedAlgorithm => NotAToken::Algorithm,
        ErrorKind::MissingRequiredClaim(_) => NotAToken::Lacks,
        _ => NotAToken::Malformed,
    }
}

/// Whether it can stand in a record and on a terminal.
fn may_be_shown(subject: &str) -> bool {
    let visible = |c: char| c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ';
    !subject.trim().is_empty() && subject.len() <= MOST_SUBJECT && subject.chars().all(visible)
}
