//! The keys that an issuer publishes (JWKS), each with the one algorithm it is for.

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// The most keys that are looked at.
const MOST_KEYS: usize = 64;

/// A key that signs.
#[derive(Clone)]
pub(super) struct Signer {
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

/// Every key of an issuer that counts.
#[derive(Default)]
pub(super) struct Keys(Vec<(Option<String>, Signer)>);

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

impl Keys {
    /// Reads a set. Keys that are for something else, or of a kind that does not count, are passed over.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let set: Set =
            serde_json::from_str(text).map_err(|_| "this is not a set of keys (JWKS)".to_owned())?;
        if set.keys.len() > MOST_KEYS {
            return Err(format!("the set has more than {MOST_KEYS} keys"));
        }
        let keys: Vec<_> = set.keys.into_iter().filter_map(signer).collect();
        if keys.is_empty() {
            return Err("the set has no key that counts: RS256, PS256, ES256 and EdDSA do".to_owned());
        }
        Ok(Self(keys))
    }

    /// The key of this name; without a name, the only one there is.
    pub(super) fn find(&self, kid: Option<&str>) -> Option<Signer> {
        let found = match (kid, self.0.as_slice()) {
            (Some(_), keys) => keys.iter().find(|(name, _)| name.as_deref() == kid),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        found.map(|(_, signer)| signer.clone())
    }
}

fn signer(value: Value) -> Option<(Option<String>, Signer)> {
    let jwk: Jwk = serde_json::from_value(value).ok()?;
    if jwk.common.public_key_use.as_ref().is_some_and(|purpose| *purpose != PublicKeyUse::Signature) {
        return None;
    }
    let of_its_kind = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P256 => Algorithm::ES256,
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => Algorithm::EdDSA,
        _ => return None,
    };
    let algorithm = match (jwk.common.key_algorithm, of_its_kind) {
        (None, usual) => usual,
        (Some(KeyAlgorithm::RS256), Algorithm::RS256) => Algorithm::RS256,
        (Some(KeyAlgorithm::PS256), Algorithm::RS256) => Algorithm::PS256,
        (Some(KeyAlgorithm::ES256), Algorithm::ES256) => Algorithm::ES256,
        (Some(KeyAlgorithm::EdDSA), Algorithm::EdDSA) => Algorithm::EdDSA,
        (Some(_), _) => return None,
    };
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    Some((jwk.common.key_id, Signer { algorithm, key }))
}
