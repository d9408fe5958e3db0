use proptest::prelude::*;
use serde_json::{Value, json};

use super::tool;
use crate::{Content, Contents, MOST_BLOCKS, MOST_CONTENT_BYTES, Misfit, OutputCheck, ResourceBody};

/// The one block of a result with this one.
#[track_caller]
fn check(block: &Value, expected: &Content) {
    let contents = Contents::read(&json!({"$content": [block]})).unwrap().unwrap();
    assert_eq!(
        (contents.blocks.as_slice(), contents.structured),
        (std::slice::from_ref(expected), None),
        "{block}"
    );
}

/// Why a result is refused: its place, a part of the message, a part of the hint.
#[track_caller]
fn refused(result: &Value, place: &str, message: &str, hint: &str) {
    let fault = Contents::read(result).unwrap_err();
    assert_eq!(fault.place, place, "{fault}");
    assert!(fault.message.contains(message) && fault.hint.contains(hint), "{fault:?}");
    assert!(fault.to_string().starts_with(&format!("the result at {place} ")), "{fault}");
}

#[track_caller]
fn refused_block(block: &Value, place: &str, message: &str, hint: &str) {
    refused(&json!({"$content": [{"type": "text", "text": ""}, block]}), place, message, hint);
}

#[test]
fn every_kind_of_block_is_read() {
    check(&json!({"type": "text", "text": "a\n*b*"}), &Content::Text { text: "a\n*b*".to_owned() });
    let (data, mime) = ("AQID".to_owned(), "image/png".to_owned());
    for given in [json!("AQID"), json!({"$bytes": "AQID"})] {
        check(
            &json!({"type": "image", "data": given, "mimeType": "image/png"}),
            &Content::Image { data: data.clone(), mime: mime.clone() },
        );
    }
    // What goes on has its padding.
    for given in ["AQ", "AQ=="] {
        check(
            &json!({"type": "audio", "data": given, "mimeType": "audio/ogg; codecs=opus"}),
            &Content::Audio { data: "AQ==".to_owned(), mime: "audio/ogg; codecs=opus".to_owned() },
        );
    }
    check(
        &json!({"type": "resource", "resource": {"uri": "file:///a.md", "mimeType": "text/markdown", "text": "# a"}}),
        &Content::Resource {
            uri: "file:///a.md".to_owned(),
            mime: Some("text/markdown".to_owned()),
            body: ResourceBody::Text("# a".to_owned()),
        },
    );
    for given in [json!("AQID"), json!({"$bytes": "AQID"})] {
        check(
            &json!({"type": "resource", "resource": {"uri": "urn:isbn:1", "blob": given}}),
            &Content::Resource {
                uri: "urn:isbn:1".to_owned(),
                mime: None,
                body: ResourceBody::Blob("AQID".to_owned()),
            },
        );
    }
}

#[test]
fn only_what_says_that_it_is_content_is_read_as_such() {
    for given in
        [json!(null), json!([]), json!("$content"), json!({"content": []}), json!([{"$content": []}])]
    {
        assert_eq!(Contents::read(&given), Ok(None), "{given}");
    }
    let nothing = Contents { blocks: Vec::new(), structured: None };
    assert_eq!(Contents::read(&json!({"$content": []})), Ok(Some(nothing)));
    let both = Contents::read(&json!({"structured": [1], "$content": []})).unwrap().unwrap();
    assert_eq!(both.structured, Some(json!([1])));
}

#[test]
fn a_mistake_is_told_with_its_place() {
    refused(&json!({"$content": "x"}), "$content", "a list of blocks", "\"type\": \"text\"");
    refused(&json!({"$content": [], "isError": true}), "isError", "beside `$content`", "`structured`");
    refused(&json!({"$content": ["x"]}), "$content[0]", "must be a block", "\"type\": \"text\"");
    refused_block(&json!({}), "$content[1].type", "the kind of the block", "text, image, audio, resource");
    refused_block(&json!({"type": "imgae"}), "$content[1].type", "`imgae`", "did you mean `image`?");
    refused_block(&json!({"type": "resource_link"}), "$content[1].type", "`resource_link`", "");
    refused_block(&json!({"type": "text"}), "$content[1].text", "must be a text", "\"text\"");
    refused_block(&json!({"type": "text", "text": 1}), "$content[1].text", "must be a text", "");
    refused_block(
        &json!({"type": "image", "data": "AQID", "mimetype": "image/png"}),
        "$content[1].mimetype",
        "is no field",
        "did you mean `mimeType`?",
    );
    refused_block(
        &json!({"type": "image", "data": "AQID"}),
        "$content[1].mimeType",
        "must be a text",
        "image/png",
    );
    for mime in [
        "png",
        "text/html",
        "image/",
        "image/a b",
        "image/png\n",
        "audio/png",
        &format!("image/{}", "a".repeat(200)),
    ] {
        refused_block(
            &json!({"type": "image", "data": "AQID", "mimeType": mime}),
            "$content[1].mimeType",
            "is no media type of this block",
            "it begins with image/",
        );
    }
    for data in
        [json!(1), json!([1, 2]), json!({"$bytes": 1}), json!({"$bytes": "AQID", "more": 1}), json!(null)]
    {
        refused_block(
            &json!({"type": "audio", "data": data, "mimeType": "audio/wav"}),
            "$content[1].data",
            "must be bytes",
            "a typed array",
        );
    }
    for data in ["AQI*", "***", "AQ***ID=", "data:image/png;base64,AQID", "AQ\nID", "_-8=", "A"] {
        refused_block(
            &json!({"type": "image", "data": data, "mimeType": "image/png"}),
            "$content[1].data",
            "is not base64",
            "a secret is masked",
        );
    }
    refused_block(
        &json!({"type": "image", "data": "", "mimeType": "image/png"}),
        "$content[1].data",
        "is empty",
        "",
    );
    refused_block(&json!({"type": "resource"}), "$content[1].resource", "must be an object", "\"uri\"");
    for (resource, place, message) in [
        (json!({"text": "x"}), "$content[1].resource.uri", "must be a text"),
        (json!({"uri": "a.txt", "text": "x"}), "$content[1].resource.uri", "must be an address"),
        (json!({"uri": "file:///a b", "text": "x"}), "$content[1].resource.uri", "must be an address"),
        (json!({"uri": "1file:x", "text": "x"}), "$content[1].resource.uri", "must be an address"),
        (
            json!({"uri": format!("a:{}", "x".repeat(9000)), "text": "x"}),
            "$content[1].resource.uri",
            "an address",
        ),
        (json!({"uri": "a:b"}), "$content[1].resource", "either `text` or `blob`"),
        (
            json!({"uri": "a:b", "text": "x", "blob": "AQID"}),
            "$content[1].resource",
            "either `text` or `blob`",
        ),
        (json!({"uri": "a:b", "blob": "?"}), "$content[1].resource.blob", "is not base64"),
        (
            json!({"uri": "a:b", "text": "x", "mimeType": "text"}),
            "$content[1].resource.mimeType",
            "no media type",
        ),
        (json!({"uri": "a:b", "text": "x", "name": "n"}), "$content[1].resource.name", "is no field"),
    ] {
        refused_block(&json!({"type": "resource", "resource": resource}), place, message, "");
    }
}

#[test]
fn content_is_bounded() {
    let blocks =
        |count: usize, text: &str| json!({"$content": vec![json!({"type": "text", "text": text}); count]});
    assert!(Contents::read(&blocks(MOST_BLOCKS, "x")).is_ok());
    refused(&blocks(MOST_BLOCKS + 1, "x"), "$content", "257 blocks; at most 256", "fewer");
    let quarter = "x".repeat(MOST_CONTENT_BYTES / 4);
    assert!(Contents::read(&blocks(4, &quarter)).is_ok());
    refused(&blocks(5, &quarter), "$content", "bytes in all", "give less");
}

#[test]
fn of_content_what_is_structured_is_held_against_the_output() {
    let with = OutputCheck::new(&tool(
        "name: a\ncode: x\noutput: {type: object, required: [n], properties: {n: {type: integer}}}",
    ));
    let without = OutputCheck::new(&tool("name: a\ncode: x"));
    let content = json!([{"type": "text", "text": "x"}]);
    for check in [&with, &without] {
        assert_eq!(check.check(&json!({"$content": content, "structured": {"n": 1}})), Ok(()));
        let misfit = check.check(&json!({"$content": [7], "structured": {"n": 1}})).unwrap_err();
        assert!(misfit.message().starts_with("the result at $content[0] must be a block"), "{misfit:?}");
        assert!(misfit.hint().starts_with("write {"), "{misfit:?}");
    }
    assert_eq!(without.check(&json!({"$content": content})), Ok(()));
    assert_eq!(without.check(&json!({"$content": content, "structured": "any"})), Ok(()));
    for (result, says) in [
        (json!({"$content": content}), "no `structured` beside it"),
        (json!({"$content": content, "structured": {"n": "x"}}), "`structured` of the result at /n: "),
        (json!({"$content": content, "structured": null}), "`structured` of the result: "),
    ] {
        let misfit = with.check(&result).unwrap_err();
        assert!(matches!(misfit, Misfit::Schema(_)), "{misfit:?}");
        assert!(misfit.message().contains(says), "{misfit:?}");
        assert_eq!(misfit.hint(), "mend the code, or the schema in `output`");
    }
}

proptest! {
    #[test]
    fn no_value_makes_reading_panic(word in "[a-z$_]{0,8}", data in "[A-Za-z0-9+/=*]{0,12}", which in 0..6usize) {
        let block = match which {
            0 => json!({"type": word, "data": data}),
            1 => json!({"type": "image", "data": {word: data}, "mimeType": "image/png"}),
            2 => json!({"type": "image", "data": data, "mimeType": format!("image/{word}")}),
            3 => json!({"type": "resource", "resource": {"uri": format!("{word}:{data}"), "text": data}}),
            4 => json!({word: [data]}),
            _ => json!([word]),
        };
        let read = Contents::read(&json!({"$content": [block]}));
        // Whatever is read has data that others can read.
        if let Ok(Some(Contents { blocks, .. })) = read
            && let Some(Content::Image { data, mime }) = blocks.first()
        {
            prop_assert!(!data.is_empty() && data.len() % 4 == 0 && mime.starts_with("image/"));
        }
    }
}
