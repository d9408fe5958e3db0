//! What a look at a document or at code found.

use bailiwick_types::{Failure, Risk};
use serde_json::Value;

use crate::schema;
use crate::shape::shape;

shape! {
    /// One mistake in a document.
    #[derive(Eq)]
    Fault of bailiwick_core::Fault {
        /// The document.
        document: String,
        /// Where in its tree: `params[0].type`. Empty for the document as a whole.
        path: String,
        /// The line, counted from 1; 0 where there is no place.
        line: u32,
        /// The column, counted from 1.
        column: u32,
        /// What is wrong.
        message: String,
        /// What to write.
        hint: Option<String>,
    }
}

shape! {
    /// What was found in code.
    CodeFinding of bailiwick_core::CodeFinding {
        /// What: `eval`.
        name: String,
        /// Why it is found.
        why: String,
        /// What to use in its place.
        instead: String,
        /// The line of the code.
        line: u32,
        /// The column.
        column: u32,
        /// Whether it keeps the code from running.
        blocks: bool,
    }
}

shape! {
    /// What was found in a text that a model would see.
    Found of bailiwick_core::Found {
        /// Where the text stands: `params[0].description`.
        path: String,
        /// Which rule: `hidden-instructions`.
        rule: String,
        /// What the rule is about.
        meaning: String,
        /// Whether it keeps the tool from being published.
        blocks: bool,
        /// The text that tripped it.
        matched: String,
        /// Where in the text, in bytes.
        offset: usize,
    }
}

shape! {
    /// What a look at a document found.
    Checked of bailiwick_core::Checked {
        /// The tool's name.
        name: String,
        /// Whether nothing stands in the way of a pass.
        ok: bool,
        /// What is doubtful about the document.
        warnings: Vec<Fault>,
        /// What was found in the code.
        code: Vec<CodeFinding>,
        /// Why the code could not be looked at.
        #[schema(value_type = Option<schema::Failure>)]
        code_failure: Option<Failure>,
        /// What was found in the texts for models.
        texts: Vec<Found>,
        /// The badge.
        #[schema(value_type = schema::Risk)]
        risk: Risk,
        /// Whether a call would wait for a person.
        approval: bool,
        /// Secrets it refers to that are not set.
        missing_secrets: Vec<String>,
    }
}

shape! {
    /// The policy of a document as it would be kept.
    PolicyView of bailiwick_core::PolicyView {
        /// The tool's name.
        name: String,
        /// The badge with its reasons.
        #[schema(value_type = schema::Risk)]
        risk: Risk,
        /// The effective policy.
        #[schema(value_type = Object)]
        policy: Value,
        /// SHA-256 of it.
        policy_hash: String,
        /// Whether a call would wait for a person.
        approval: bool,
        /// What its level asks of whoever publishes it.
        advice: String,
    }
}

shape! {
    /// What a look at code found.
    CodeChecked of bailiwick_core::CodeChecked {
        /// Whether it could run.
        ok: bool,
        /// Why it could not be looked at.
        #[schema(value_type = Option<schema::Failure>)]
        error: Option<Failure>,
        /// What was found.
        findings: Vec<CodeFinding>,
    }
}
