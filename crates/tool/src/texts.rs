//! What of a tool reaches a model: its texts, for a scanner, and its definition, for a client.
//!
//! Code, statics, overrides and test values never do.

use serde_json::{Map, Value, json};

use crate::param::Param;
use crate::schema::texts;
use crate::tool::Tool;

impl Tool {
    /// Every text that a model would see, with where it stands in the document. Names are texts too.
    pub fn model_texts(&self) -> Vec<(String, &str)> {
        let mut all: Vec<(String, &str)> = vec![("name".to_owned(), self.name.as_str())];
        all.extend(self.title().map(|text| ("title".to_owned(), text)));
        all.extend(self.description().map(|text| ("description".to_owned(), text)));
        for (index, param) in self.params.iter().enumerate() {
            // Test values, like whether it is required, are not seen, or are no text.
            let Param { name, description, default, choices, schema, .. } = param;
            let path = |field: &str| format!("params[{index}].{field}");
            all.push((path("name"), name));
            all.extend(description.as_deref().map(|text| (path("description"), text)));
            if let Some(default) = default {
                texts(&path("default"), default, &mut all);
            }
            for (at, choice) in choices.iter().enumerate() {
                texts(&path(&format!("enum[{at}]")), choice, &mut all);
            }
            if let Some(schema) = schema {
                texts(&path("schema"), schema, &mut all);
            }
        }
        if let Some(output) = self.output() {
            texts("output", output, &mut all);
        }
        all
    }

    /// The tool as a client of the Model Context Protocol sees it, without annotations.
    pub fn definition(&self) -> Value {
        let mut map = Map::from_iter([("name".to_owned(), json!(self.name.as_str()))]);
        if let Some(title) = self.title() {
            map.insert("title".to_owned(), json!(title));
        }
        if let Some(description) = self.description() {
            map.insert("description".to_owned(), json!(description));
        }
        map.insert("inputSchema".to_owned(), self.input_schema());
        if let Some(output) = self.output() {
            map.insert("outputSchema".to_owned(), output.clone());
        }
        Value::Object(map)
    }
}
