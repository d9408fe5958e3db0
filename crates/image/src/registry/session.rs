//! The conversation with one registry about one repository: who we are is told once, to whom it belongs, and to nobody
//! else.

use http::HeaderValue;
use http::header::{CONTENT_RANGE, WWW_AUTHENTICATE};
use serde::Deserialize;
use url::Url;
use zeroize::Zeroizing;

use super::challenge::Challenge;
use super::client::{Answer, Asking, Client, failed};
use super::credentials::{self, Credentials, Known};
use super::standing::Standing;
use crate::manifest::{ACCEPTED, MOST, readable};
use crate::{Digest, Fault, ImageError, Reference};

/// The largest answer that holds a token.
const MOST_TOKEN: u64 = 256 * 1024;
/// The most that is read of why something was refused.
const MOST_REASON: u64 = 64 * 1024;

pub(super) struct Session<'a> {
    client: &'a Client,
    base: Url,
    repository: String,
    known: Known,
    credentials: Option<Credentials>,
    authorization: Option<HeaderValue>,
    standing: Option<Standing>,
}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    access_token: Option<String>,
}

impl<'a> Session<'a> {
    pub(super) fn new(client: &'a Client, reference: &Reference) -> Result<Self, ImageError> {
        Ok(Self {
            client,
            base: client.base(reference.registry())?,
            repository: reference.repository(),
            known: credentials::find(client.docker_config.as_deref(), reference)?,
            credentials: None,
            authorization: None,
            standing: None,
        })
    }

    /// A manifest or an index, by tag or digest.
    pub(super) async fn manifest(&mut self, wanted: &str) -> Result<Vec<u8>, ImageError> {
        let answer = self.ask(&format!("manifests/{wanted}"), Some(ACCEPTED), 0).await?;
        match answer.head.status.as_u16() {
            200 => answer.small(MOST).await,
            _ => Err(told(answer).await),
        }
    }

    /// A blob from a byte on; and from which byte it comes.
    pub(super) async fn blob(&mut self, digest: &Digest, from: u64) -> Result<(Answer, u64), ImageError> {
        let answer = self.ask(&format!("blobs/{digest}"), None, from).await?;
        match answer.head.status.as_u16() {
            200 => Ok((answer, 0)),
            206 => {
                let said = answer.head.headers.get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
                let begins = said.is_some_and(|said| said.starts_with(&format!("bytes {from}-")));
                if begins {
                    return Ok((answer, from));
                }
                Err(failed(
                    &answer.url,
                    Fault::Misbehaved,
                    "it gives another part of a blob than it was asked for",
                ))
            }
            _ => Err(told(answer).await),
        }
    }

    async fn ask(
        &mut self,
        what: &str,
        accept: Option<&'static str>,
        from: u64,
    ) -> Result<Answer, ImageError> {
        let url = self.base.join(&format!("v2/{}/{what}", self.repository));
        let url = url.map_err(|error| failed(&self.base, Fault::Misbehaved, error.to_string()))?;
        for is_second in [false, true] {
            let asking = Asking { accept, authorization: self.authorization.clone(), from, form: None };
            let answer = self.client.get(url.clone(), &asking, None).await?;
            self.standing = Some(answer.standing);
            let is_ours = answer.url.origin() == self.base.origin();
            if answer.head.status.as_u16() == 401 && is_ours && !is_second {
                self.authorize(answer).await?;
                continue;
            }
            return Ok(answer);
        }
        Err(failed(&self.base, Fault::Unauthorized, "it does not take what it asked for"))
    }

    /// Gets what the registry wants to see.
    async fn authorize(&mut self, answer: Answer) -> Result<(), ImageError> {
        let wanted = answer.head.headers.get_all(WWW_AUTHENTICATE).iter();
        let wanted: Vec<_> = wanted.filter_map(|one| Challenge::read(one.to_str().ok()?)).collect();
        let bearer = wanted.iter().find_map(|one| match one {
            Challenge::Bearer { realm, service } => Some((realm, service)),
            Challenge::Basic => None,
        });
        let known = std::mem::replace(&mut self.known, Known::Nobody);
        if !matches!(known, Known::Nobody) {
            self.credentials = known.opened(self.client.helpers.clone()).await?;
        }
        self.authorization = Some(match (bearer, &self.credentials) {
            (Some((realm, service)), _) => self.token(realm, service.as_deref()).await?,
            (None, Some(Credentials::Password(password))) if wanted.contains(&Challenge::Basic) => {
                header(&self.base, password)?
            }
            (None, _) => return Err(told(answer).await),
        });
        Ok(())
    }

    /// A token for this repository, from where the registry says. Our password goes there only if that is of the same
    /// house; without a password there is nothing to lose.
    async fn token(&self, realm: &str, service: Option<&str>) -> Result<HeaderValue, ImageError> {
        let refused = |why: &str| Err(failed(&self.base, Fault::Misbehaved, why));
        let Ok(mut url) = Url::parse(realm) else { return refused("its tokens are to be had nowhere") };
        let same = url.host_str() == self.base.host_str();
        let is_clear = url.scheme() == "http" && self.base.scheme() == "http";
        if url.scheme() != "https" && !is_clear {
            return refused("it wants us to get a token in the clear, and that is not done");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("its tokens are to be had nowhere");
        }
        if self.credentials.is_some() && !same && !same_house(&url, &self.base) {
            return refused(
                "it wants us to show our password to somebody else, and that is not done; log out of it if its images are public",
            );
        }
        let scope = format!("repository:{}:pull", self.repository);
        let mut asking = Asking::default();
        if let Some(Credentials::Identity(token)) = &self.credentials {
            asking.form = Some(exchange(token, service, &scope));
        } else {
            if let Some(service) = service {
                url.query_pairs_mut().append_pair("service", service);
            }
            url.query_pairs_mut().append_pair("scope", &scope);
        }
        if let Some(Credentials::Password(password)) = &self.credentials {
            asking.authorization = Some(header(&url, password)?);
        }
        let answer = self.client.get(url.clone(), &asking, self.standing).await?;
        if answer.head.status.as_u16() != 200 {
            return Err(told(answer).await);
        }
        let bytes = Zeroizing::new(answer.small(MOST_TOKEN).await?);
        let token: Token = serde_json::from_slice(&bytes)
            .map_err(|_| failed(&url, Fault::Misbehaved, "what it gives is no token"))?;
        match token.token.or(token.access_token).map(Zeroizing::new) {
            Some(token) => header(&url, &Zeroizing::new(format!("Bearer {}", token.as_str()))),
            None => Err(failed(&url, Fault::Misbehaved, "what it gives is no token")),
        }
    }
}

/// The form by which an identity is exchanged for a token.
fn exchange(token: &Zeroizing<String>, service: Option<&str>, scope: &str) -> bytes::Bytes {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "refresh_token").append_pair("client_id", "bailiwick");
    if let Some(service) = service {
        form.append_pair("service", service);
    }
    form.append_pair("scope", scope).append_pair("refresh_token", token);
    bytes::Bytes::from(form.finish())
}

fn header(url: &Url, text: &Zeroizing<String>) -> Result<HeaderValue, ImageError> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| failed(url, Fault::Misbehaved, "what opens it cannot be sent"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Whether two hosts belong to one owner, as far as names tell.
fn same_house(one: &Url, other: &Url) -> bool {
    let house = |url: &Url| match url.host() {
        Some(url::Host::Domain(name)) => bailiwick_policy::registered_domain(name).map(str::to_owned),
        _ => None,
    };
    house(one).is_some_and(|name| house(other) == Some(name))
}

/// Why an answer is none, by its status and what it says about it.
async fn told(answer: Answer) -> ImageError {
    #[derive(Deserialize)]
    struct Reasons {
        errors: Vec<Reason>,
    }
    #[derive(Deserialize)]
    struct Reason {
        #[serde(default)]
        message: String,
    }
    let (url, status) = (answer.url.clone(), answer.head.status);
    let fault = match status.as_u16() {
        404 => Fault::Missing,
        401 | 403 => Fault::Unauthorized,
        429 | 500..=599 => Fault::Unreachable,
        _ => Fault::Misbehaved,
    };
    // Without a reason the status has to do.
    let reasons = answer.small(MOST_REASON).await.ok();
    let reasons = reasons.and_then(|bytes| serde_json::from_slice::<Reasons>(&bytes).ok());
    let reason =
        reasons.and_then(|reasons| reasons.errors.into_iter().next()).map(|reason| readable(&reason.message));
    let said = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    failed(&url, fault, format!("it answers {status}{said}"))
}
