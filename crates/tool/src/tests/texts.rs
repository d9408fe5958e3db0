use serde_json::json;

use super::{STARS, tool};

#[test]
fn a_scanner_sees_every_text_that_a_model_sees() {
    let one = tool(
        "name: a\ntitle: T\ndescription: D\ncode: CODE\nstatics: [{name: s, value: STATIC}]\n\
         tests: [{name: TEST, input: {p: x}, equals: EQUALS}]\nparams:\n\
         \x20 - {name: p, type: STRING, description: P, enum: [x, y], default: x, testValue: y}\n\
         \x20 - {name: o, type: OBJECT, schema: {title: OT, properties: {inner: {description: OD, examples: [OE]}}}}\n\
         output: {description: OUT, properties: {field: {const: C}}, $comment: note}\n",
    );
    let texts = one.model_texts();
    let seen: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    assert_eq!(
        seen,
        [
            ("name", "a"),
            ("title", "T"),
            ("description", "D"),
            ("params[0].name", "p"),
            ("params[0].description", "P"),
            ("params[0].default", "x"),
            ("params[0].enum[0]", "x"),
            ("params[0].enum[1]", "y"),
            ("params[1].name", "o"),
            ("params[1].schema.title", "OT"),
            ("params[1].schema.properties.inner", "inner"),
            ("params[1].schema.properties.inner.description", "OD"),
            ("params[1].schema.properties.inner.examples[0]", "OE"),
            ("output.description", "OUT"),
            ("output.properties.field", "field"),
            ("output.properties.field.const", "C"),
            ("output.$comment", "note"),
        ]
    );
    // And nothing is seen that it does not see: every text of the definition is one of these.
    let mut definition = Vec::new();
    let whole = one.definition();
    crate::schema::texts("", &whole, &mut definition);
    for (path, text) in definition {
        let ours = ["object", "string", "name", "inputSchema", "outputSchema", "a", "p", "o"].contains(&text);
        assert!(ours || seen.iter().any(|(_, seen)| *seen == text), "{path}: {text}");
    }
}

#[test]
fn the_definition_is_what_a_client_gets_and_no_more() {
    assert_eq!(
        tool(STARS).definition(),
        json!({
            "name": "repo_stars",
            "description": "Star count of a GitHub repository.",
            "inputSchema": {
                "type": "object",
                "properties": {"repo": {"type": "string", "description": "owner/name"}},
                "required": ["repo"],
                "additionalProperties": false,
            },
            "outputSchema": {"type": "object", "required": ["stars"], "properties": {"stars": {"type": "integer"}}},
        })
    );
}
