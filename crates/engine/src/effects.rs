//! The natives behind `fetch`, `safety.fs` and `sandbox.exec`: what a script hands over becomes an effect, and an answer becomes what
//! a script takes. Nothing is checked here; the host does.

use std::rc::Rc;

use bailiwick_types::{
    Answer, Bytes, Effect, ExecRequest, FetchAnswer, FetchRequest, FileAnswer, FileRequest, Matching,
    RedirectMode,
};
use bailiwick_wire::{Refusal, Reply};
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Result, TypedArray, Value};

use crate::raw::value::{copy_of, text};
use crate::world::World;

/// Puts the natives on the object that our scripts get.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>, world: &Rc<World>, native: &Object<'js>) -> Result<()> {
    let place = |name: &str, function: Function<'js>| native.set(name, function.with_name(name)?);
    let shared = Rc::clone(world);
    place(
        "startFetch",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, asked: Object<'js>| -> Result<u32> {
            let request = fetch_request(&asked)?;
            let outside = shared.outside(&ctx)?;
            Ok(shared.asks.start(outside.as_ref(), Effect::Fetch(request)))
        })?,
    )?;
    let shared = Rc::clone(world);
    place(
        "startExec",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, asked: Object<'js>| -> Result<u32> {
            let request = exec_request(&asked)?;
            let outside = shared.outside(&ctx)?;
            Ok(shared.asks.start(outside.as_ref(), Effect::Exec(request)))
        })?,
    )?;
    let shared = Rc::clone(world);
    place(
        "cancel",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, id: u32| -> Result<()> {
            shared.asks.cancel(shared.outside(&ctx)?.as_ref(), id);
            Ok(())
        })?,
    )?;
    let shared = Rc::clone(world);
    place(
        "file",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, asked: Object<'js>| -> Result<Object<'js>> {
            let request = file_request(&ctx, &asked)?;
            let outside = shared.outside(&ctx)?;
            let Some((id, reply)) = shared.asks.wait(outside.as_ref(), &shared.watch, Effect::File(request))
            else {
                return Err(Exception::throw_internal(&ctx, "the call is over"));
            };
            let answer = reply_object(&ctx, reply)?;
            answer.set("id", id)?;
            Ok(answer)
        })?,
    )?;
    Ok(())
}

/// Texts that a script of ours put into a list: the first of each two is a name.
fn pairs(asked: &Object<'_>, name: &str) -> Result<Vec<(String, String)>> {
    let flat: Object<'_> = asked.get(name)?;
    let count: u32 = flat.get("length")?;
    let mut pairs = Vec::new();
    for index in (0..count.saturating_sub(1)).step_by(2) {
        pairs.push((text(&flat.get::<_, Value<'_>>(index)?)?, text(&flat.get::<_, Value<'_>>(index + 1)?)?));
    }
    Ok(pairs)
}

fn exec_request(asked: &Object<'_>) -> Result<ExecRequest> {
    let words: Object<'_> = asked.get("argv")?;
    let count: u32 = words.get("length")?;
    let argv = (0..count).map(|index| text(&words.get::<_, Value<'_>>(index)?)).collect::<Result<_>>()?;
    Ok(ExecRequest {
        argv,
        stdin: bytes(asked, "stdin")?.unwrap_or_default(),
        env: pairs(asked, "env")?,
        timeout_ms: number(asked, "timeoutMs")?,
    })
}

fn fetch_request(asked: &Object<'_>) -> Result<FetchRequest> {
    let headers = pairs(asked, "headers")?;
    let redirect: i32 = asked.get("redirect")?;
    Ok(FetchRequest {
        method: text(&asked.get::<_, Value<'_>>("method")?)?,
        url: text(&asked.get::<_, Value<'_>>("url")?)?,
        headers,
        body: bytes(asked, "body")?,
        redirect: match redirect {
            1 => RedirectMode::Error,
            2 => RedirectMode::Manual,
            _ => RedirectMode::Follow,
        },
        max_bytes: number(asked, "maxBytes")?,
        offset: number(asked, "offset")?.unwrap_or(0),
    })
}

fn file_request(ctx: &Ctx<'_>, asked: &Object<'_>) -> Result<FileRequest> {
    let word = |name: &str| -> Result<String> { text(&asked.get::<_, Value<'_>>(name)?) };
    let flag = |name: &str| -> Result<bool> { asked.get(name) };
    let path = || word("path");
    let content = || -> Result<Bytes> { Ok(bytes(asked, "content")?.unwrap_or_default()) };
    let optional = |name: &str| -> Result<Option<String>> {
        let value: Value<'_> = asked.get(name)?;
        if value.is_undefined() { Ok(None) } else { text(&value).map(Some) }
    };
    let how = || -> Result<Matching> {
        Ok(Matching {
            ignore_case: flag("ignoreCase")?,
            invert: flag("invert")?,
            limit: number(asked, "limit")?.map(small),
        })
    };
    Ok(match word("op")?.as_str() {
        "readText" => FileRequest::ReadText { path: path()? },
        "readBytes" => FileRequest::ReadBytes {
            path: path()?,
            offset: number(asked, "offset")?.unwrap_or(0),
            length: number(asked, "length")?,
        },
        "list" => FileRequest::List { path: path()?, recursive: flag("recursive")? },
        "exists" => FileRequest::Exists { path: path()? },
        "stat" => FileRequest::Stat { path: path()? },
        "lineCount" => FileRequest::LineCount { path: path()? },
        "slice" => FileRequest::Slice {
            path: path()?,
            from: number(asked, "from")?.unwrap_or(1),
            to: number(asked, "to")?,
        },
        "grep" => FileRequest::Grep { path: path()?, pattern: word("pattern")?, how: how()? },
        "find" => FileRequest::Find { path: path()?, glob: word("glob")?, kind: optional("kind")? },
        "search" => FileRequest::Search {
            path: path()?,
            pattern: word("pattern")?,
            glob: optional("glob")?,
            how: how()?,
        },
        "cut" => FileRequest::Cut {
            path: path()?,
            delimiter: word("delimiter")?,
            fields: {
                let list: Object<'_> = asked.get("fields")?;
                let count: u32 = list.get("length")?;
                (0..count).map(|index| list.get::<_, u32>(index)).collect::<Result<_>>()?
            },
        },
        "sort" => FileRequest::Sort {
            path: path()?,
            numeric: flag("numeric")?,
            reverse: flag("reverse")?,
            unique: flag("unique")?,
            field: match number(asked, "field")? {
                Some(field) => Some((small(field), word("delimiter")?)),
                None => None,
            },
        },
        "workspace" => FileRequest::Workspace,
        "roots" => FileRequest::Roots,
        "write" => FileRequest::Write { path: path()?, content: content()? },
        "append" => FileRequest::Append { path: path()?, content: content()? },
        "edit" => {
            FileRequest::Edit { path: path()?, old: word("old")?, new: word("new")?, all: flag("all")? }
        }
        "copy" => FileRequest::Copy { from: word("from")?, to: word("to")? },
        "mkdir" => FileRequest::MakeDir { path: path()? },
        "move" => FileRequest::Move { from: word("from")?, to: word("to")? },
        "delete" => FileRequest::Delete { path: path()? },
        "deleteDir" => FileRequest::DeleteDir { path: path()?, recursive: flag("recursive")? },
        other => return Err(Exception::throw_internal(ctx, &format!("there is no file operation {other}"))),
    })
}

/// A whole number that is not negative; what is no number is absent.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float's cast stops at the ends"
)]
fn number(asked: &Object<'_>, name: &str) -> Result<Option<u64>> {
    let value: Value<'_> = asked.get(name)?;
    Ok(value.as_number().map(|number| number as u64))
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The bytes of a `Uint8Array` of ours.
fn bytes(asked: &Object<'_>, name: &str) -> Result<Option<Bytes>> {
    let value: Value<'_> = asked.get(name)?;
    if value.is_undefined() {
        return Ok(None);
    }
    let array: TypedArray<'_, u8> = value.get()?;
    Ok(Some(Bytes(copy_of(&array))))
}

/// What came back, as an object without a prototype: `refused` on it says which of the two it is.
pub(crate) fn reply_object<'js>(ctx: &Ctx<'js>, reply: Reply) -> Result<Object<'js>> {
    let object = Object::new_proto(ctx.clone(), None)?;
    match reply {
        Reply::Given(Answer::Fetched(answer)) => {
            let FetchAnswer { status, status_text, url, redirected, headers, body, whole } = answer;
            object.set("status", status)?;
            object.set("statusText", status_text)?;
            object.set("url", url)?;
            object.set("redirected", redirected)?;
            let flat = rquickjs::Array::new(ctx.clone())?;
            flat.set_prototype(None)?;
            for (index, text) in headers.into_iter().flat_map(|(name, value)| [name, value]).enumerate() {
                flat.set(index, text)?;
            }
            object.set("headers", flat)?;
            // Copied, so that it counts as the guest's memory.
            object.set("body", ArrayBuffer::new_copy(ctx.clone(), &body.0)?)?;
            object.set("whole", whole)?;
        }
        Reply::Given(Answer::Filed(FileAnswer::Text(text))) => object.set("text", text)?,
        Reply::Given(Answer::Filed(FileAnswer::Bytes(bytes))) => {
            object.set("bytes", ArrayBuffer::new_copy(ctx.clone(), &bytes.0)?)?;
        }
        Reply::Given(Answer::Filed(FileAnswer::Json(json)) | Answer::Executed(json)) => {
            object.set("json", json)?;
        }
        Reply::Refused(Refusal { code, reason, message, hint, denied }) => {
            object.set("refused", true)?;
            object.set("code", code.name())?;
            object.set("reason", reason)?;
            object.set("message", message)?;
            object.set("hint", hint)?;
            object.set("denied", denied)?;
        }
    }
    Ok(object)
}
