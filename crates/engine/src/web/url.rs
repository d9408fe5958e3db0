//! URLs by the standard's parser, and the encoding of forms. A URL is a text between two calls; nothing is kept here.

use std::borrow::Cow;
use std::rc::Rc;

use rquickjs::{Ctx, Function, Object, Result, Value};
use url::{Url, form_urlencoded, quirks};

use super::{admit, put};
use crate::raw::value::text;
use crate::world::World;

/// What encoding can make of one byte.
const WIDEST: usize = 3;

pub(super) fn place<'js>(ctx: &Ctx<'js>, native: &Object<'js>, world: &Rc<World>) -> Result<()> {
    let shared = Rc::clone(world);
    put(
        native,
        "urlParse",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, input: Value<'js>, base: Value<'js>| -> Result<Option<String>> {
                let input = text(&input)?;
                admit(&ctx, &shared, input.len().saturating_mul(2 * WIDEST))?;
                let base = if base.is_undefined() { None } else { Some(text(&base)?) };
                Ok(parse(&input, base.as_deref()).map(|url| lines(&url)))
            },
        )?,
    )?;
    let shared = Rc::clone(world);
    put(
        native,
        "urlSet",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, href: Value<'js>, which: u32, value: Value<'js>| -> Result<Option<String>> {
                let (href, value) = (text(&href)?, text(&value)?);
                admit(&ctx, &shared, href.len().saturating_add(value.len()).saturating_mul(2 * WIDEST))?;
                Ok(Url::parse(&href).ok().map(|mut url| {
                    set(&mut url, which, &value);
                    lines(&url)
                }))
            },
        )?,
    )?;
    let shared = Rc::clone(world);
    put(
        native,
        "formEncode",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, piece: Value<'js>| -> Result<String> {
            let piece = text(&piece)?;
            admit(&ctx, &shared, piece.len().saturating_mul(WIDEST))?;
            Ok(form_urlencoded::byte_serialize(piece.as_bytes()).collect())
        })?,
    )?;
    let shared = Rc::clone(world);
    put(
        native,
        "formDecode",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, piece: Value<'js>| -> Result<String> {
            let piece = text(&piece)?;
            admit(&ctx, &shared, piece.len().saturating_mul(WIDEST))?;
            Ok(form_decoded(piece.as_bytes()))
        })?,
    )
}

fn parse(input: &str, base: Option<&str>) -> Option<Url> {
    match base {
        None => Url::parse(input).ok(),
        Some(base) => Url::parse(base).ok()?.join(input).ok(),
    }
}

/// A component each in a line, in the order that `url.js` knows.
fn lines(url: &Url) -> String {
    [
        quirks::href(url),
        &quirks::origin(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ]
    .join("\n")
}

/// Sets a component. A value that makes no sense there is ignored without a word: so the standard has it.
fn set(url: &mut Url, which: u32, value: &str) {
    let _taken = match which {
        2 => quirks::set_protocol(url, value),
        3 => quirks::set_username(url, value),
        4 => quirks::set_password(url, value),
        5 => quirks::set_host(url, value),
        6 => quirks::set_hostname(url, value),
        7 => quirks::set_port(url, value),
        8 => {
            quirks::set_pathname(url, value);
            Ok(())
        }
        9 => {
            quirks::set_search(url, value);
            Ok(())
        }
        10 => {
            quirks::set_hash(url, value);
            Ok(())
        }
        _ => Err(()),
    };
}

/// One name or value of a form: `+` is a space, `%XX` a byte, and what is then no UTF-8 becomes U+FFFD.
fn form_decoded(piece: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(piece.len());
    let mut rest = piece;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let byte = match (first, after) {
            (b'+', _) => b' ',
            (b'%', [high, low, behind @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => {
                    rest = behind;
                    high << 4 | low
                }
                _ => first,
            },
            _ => first,
        };
        bytes.push(byte);
    }
    match String::from_utf8_lossy(&bytes) {
        Cow::Borrowed(good) => good.to_owned(),
        Cow::Owned(mended) => mended,
    }
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        b'A'..=b'F' => Some(letter - b'A' + 10),
        _ => None,
    }
}
