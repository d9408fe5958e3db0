//! Text to bytes and back: UTF-8, the legacy encodings of the web, base64. What is malformed is told to the script, which
//! knows whose error it is.

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding, UTF_8};
use rquickjs::{Ctx, Function, Object, Result, Value};

use super::{admit, buffer, put};
use crate::raw::bytes::look;
use crate::raw::value::text;
use crate::world::World;

/// What decoding can make of one byte.
const WIDEST: usize = 3;

/// Base64 that minds neither missing padding nor bits that are left over.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(true)
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

pub(super) fn place<'js>(ctx: &Ctx<'js>, native: &Object<'js>, world: &Rc<World>) -> Result<()> {
    place_utf8(ctx, native, world)?;
    place_decoder(ctx, native, world)?;
    let shared = Rc::clone(world);
    put(
        native,
        "toAscii",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, given: Value<'js>| -> Result<Option<String>> {
            let given = text(&given)?;
            admit(&ctx, &shared, given.len().saturating_mul(WIDEST))?;
            let bytes: Option<Vec<u8>> = given.chars().map(|letter| u8::try_from(letter).ok()).collect();
            Ok(bytes.map(|bytes| FORGIVING.encode(bytes)))
        })?,
    )?;
    let shared = Rc::clone(world);
    put(
        native,
        "fromAscii",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, given: Value<'js>| -> Result<Option<String>> {
            let given = text(&given)?;
            admit(&ctx, &shared, given.len().saturating_mul(WIDEST))?;
            Ok(forgiving(&given).map(|bytes| bytes.into_iter().map(char::from).collect()))
        })?,
    )
}

fn place_utf8<'js>(ctx: &Ctx<'js>, native: &Object<'js>, world: &Rc<World>) -> Result<()> {
    let shared = Rc::clone(world);
    put(
        native,
        "utf8",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, given: Value<'js>| -> Result<Value<'js>> {
            let given = text(&given)?;
            admit(&ctx, &shared, given.len())?;
            buffer(&ctx, given.as_bytes())
        })?,
    )?;
    put(
        native,
        "utf8Fit",
        Function::new(ctx.clone(), |given: Value<'js>, room: u32| -> Result<u32> {
            Ok(fitting(&text(&given)?, room))
        })?,
    )?;
    let shared = Rc::clone(world);
    put(
        native,
        "utf8Text",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, from: Value<'js>, offset: u32, length: u32| -> Result<String> {
                admit(&ctx, &shared, widest(length))?;
                let seen =
                    look(&from, offset, length, |bytes| UTF_8.decode_with_bom_removal(bytes).0.into_owned());
                Ok(seen.unwrap_or_default())
            },
        )?,
    )
}

fn place_decoder<'js>(ctx: &Ctx<'js>, native: &Object<'js>, world: &Rc<World>) -> Result<()> {
    put(
        native,
        "encodingName",
        Function::new(ctx.clone(), |label: Value<'js>| -> Result<Option<String>> {
            Ok(Encoding::for_label_no_replacement(text(&label)?.as_bytes())
                .map(|encoding| encoding.name().to_ascii_lowercase()))
        })?,
    )?;
    let shared = Rc::clone(world);
    put(
        native,
        "decoder",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, name: Value<'js>, fatal: bool, keeps_mark: bool| -> Result<Function<'js>> {
                let encoding = Encoding::for_label_no_replacement(text(&name)?.as_bytes()).unwrap_or(UTF_8);
                let stream = RefCell::new(Stream { encoding, fatal, keeps_mark, decoder: None });
                let shared = Rc::clone(&shared);
                Function::new(
                    ctx,
                    move |ctx: Ctx<'js>,
                          from: Value<'js>,
                          offset: u32,
                          length: u32,
                          more: bool|
                          -> Result<Option<String>> {
                        admit(&ctx, &shared, widest(length))?;
                        let step = |bytes: &[u8]| stream.borrow_mut().step(bytes, more);
                        // Bytes that are gone are no bytes.
                        Ok(look(&from, offset, length, step).unwrap_or_else(|| step(&[])))
                    },
                )
            },
        )?,
    )
}

fn widest(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX).saturating_mul(WIDEST)
}

/// One `TextDecoder`: what it makes, and what it has seen of a text that is not at its end.
struct Stream {
    encoding: &'static Encoding,
    fatal: bool,
    keeps_mark: bool,
    decoder: Option<Decoder>,
}

impl Stream {
    /// The text of the next bytes; nothing when they are malformed and that is fatal, and then it begins anew.
    fn step(&mut self, bytes: &[u8], more: bool) -> Option<String> {
        let mut decoder = self.decoder.take().unwrap_or_else(|| {
            if self.keeps_mark {
                self.encoding.new_decoder_without_bom_handling()
            } else {
                self.encoding.new_decoder_with_bom_removal()
            }
        });
        let mut out = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len())?);
        let is_whole = if self.fatal {
            decoder.decode_to_string_without_replacement(bytes, &mut out, !more).0
                == DecoderResult::InputEmpty
        } else {
            decoder.decode_to_string(bytes, &mut out, !more).0 == CoderResult::InputEmpty
        };
        if is_whole && more {
            self.decoder = Some(decoder);
        }
        is_whole.then_some(out)
    }
}

/// How many UTF-16 units of a text fit in so many bytes of UTF-8, without cutting a character.
fn fitting(given: &str, room: u32) -> u32 {
    let mut left = usize::try_from(room).unwrap_or(usize::MAX);
    let mut units = 0_u32;
    for letter in given.chars() {
        let Some(rest) = left.checked_sub(letter.len_utf8()) else { break };
        left = rest;
        units = units.saturating_add(if letter.len_utf16() == 2 { 2 } else { 1 });
    }
    units
}

/// Base64 as the web's `atob` takes it: white space anywhere, padding or none.
fn forgiving(given: &str) -> Option<Vec<u8>> {
    let mut letters: Vec<u8> = given.bytes().filter(|letter| !is_space(*letter)).collect();
    if letters.len().is_multiple_of(4) {
        for _ in 0..2 {
            if letters.last() == Some(&b'=') {
                letters.pop();
            }
        }
    }
    FORGIVING.decode(letters).ok()
}

/// ASCII white space as the web has it.
const fn is_space(letter: u8) -> bool {
    matches!(letter, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}
