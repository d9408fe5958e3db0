//! SHA-2, HMAC and chance. The bytes of a key stay here, inside the function that uses them; no script gets them back.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::{buffer, put};
use crate::raw::bytes::look_at_all;
use crate::raw::value::text;
use crate::world::World;

/// The most bytes that are drawn at once.
const QUOTA: usize = 65_536;

pub(super) fn place<'js>(ctx: &Ctx<'js>, native: &Object<'js>, world: &Rc<World>) -> Result<()> {
    let shared = Rc::clone(world);
    put(native, "uuid", Function::new(ctx.clone(), move || uuid(&shared))?)?;
    let shared = Rc::clone(world);
    put(
        native,
        "randomBytes",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, count: u32| -> Result<Value<'js>> {
            let mut bytes = vec![0; usize::try_from(count).unwrap_or(QUOTA).min(QUOTA)];
            shared.secret.fill(&mut bytes);
            buffer(&ctx, &bytes)
        })?,
    )?;
    put(
        native,
        "hash",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, bits: u32, data: Value<'js>| -> Result<Value<'js>> {
            let hashed = look_at_all(&data, |bytes| match bits {
                256 => Some(Sha256::digest(bytes).to_vec()),
                384 => Some(Sha384::digest(bytes).to_vec()),
                512 => Some(Sha512::digest(bytes).to_vec()),
                _ => None,
            });
            buffer(&ctx, &hashed.flatten().ok_or_else(|| no_such_hash(&ctx))?)
        })?,
    )?;
    put(
        native,
        "fromBase64Url",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, given: Value<'js>| -> Result<Option<Value<'js>>> {
            URL_SAFE_NO_PAD.decode(text(&given)?).ok().map(|bytes| buffer(&ctx, &bytes)).transpose()
        })?,
    )?;
    put(
        native,
        "hmacKey",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, bits: u32, key: Value<'js>| -> Result<Function<'js>> {
            let key = look_at_all(&key, |key| Key::new(bits, key)).flatten();
            let key = key.ok_or_else(|| no_such_hash(&ctx))?;
            // Without a signature it signs; with one it says whether that is the right one.
            Function::new(
                ctx,
                move |ctx: Ctx<'js>, data: Value<'js>, claimed: Value<'js>| -> Result<Value<'js>> {
                    if claimed.is_undefined() {
                        let signature = look_at_all(&data, |data| key.sign(data)).unwrap_or_default();
                        return buffer(&ctx, &signature);
                    }
                    let is_right = look_at_all(&claimed, |claimed| {
                        look_at_all(&data, |data| key.verifies(data, claimed)).unwrap_or(false)
                    });
                    Ok(Value::new_bool(ctx.clone(), is_right.unwrap_or(false)))
                },
            )
        })?,
    )
}

fn no_such_hash(ctx: &Ctx<'_>) -> rquickjs::Error {
    Exception::throw_internal(ctx, "no such hash, or no bytes")
}

/// An HMAC key, ready to be used any number of times.
enum Key {
    Sha256(Hmac<Sha256>),
    Sha384(Hmac<Sha384>),
    Sha512(Hmac<Sha512>),
}

impl Key {
    fn new(bits: u32, key: &[u8]) -> Option<Self> {
        match bits {
            256 => Hmac::new_from_slice(key).ok().map(Self::Sha256),
            384 => Hmac::new_from_slice(key).ok().map(Self::Sha384),
            512 => Hmac::new_from_slice(key).ok().map(Self::Sha512),
            _ => None,
        }
    }

    fn sign(&self, data: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256(mac) => mac.clone().chain_update(data).finalize().into_bytes().to_vec(),
            Self::Sha384(mac) => mac.clone().chain_update(data).finalize().into_bytes().to_vec(),
            Self::Sha512(mac) => mac.clone().chain_update(data).finalize().into_bytes().to_vec(),
        }
    }

    /// Takes the same time wherever the first difference is.
    fn verifies(&self, data: &[u8], claimed: &[u8]) -> bool {
        match self {
            Self::Sha256(mac) => mac.clone().chain_update(data).verify_slice(claimed).is_ok(),
            Self::Sha384(mac) => mac.clone().chain_update(data).verify_slice(claimed).is_ok(),
            Self::Sha512(mac) => mac.clone().chain_update(data).verify_slice(claimed).is_ok(),
        }
    }
}

/// A random UUID: version 4, variant 1.
fn uuid(world: &World) -> String {
    let mut bytes = [0; 16];
    world.secret.fill(&mut bytes);
    let bits = u128::from_be_bytes(bytes);
    let bits = bits & !(0xF << 76) | 0x4 << 76;
    let bits = bits & !(0x3 << 62) | 0x2 << 62;
    let hex = format!("{bits:032x}");
    let mut out = String::with_capacity(36);
    for (at, letter) in hex.chars().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            out.push('-');
        }
        out.push(letter);
    }
    out
}
