mod execute;
mod hostile;
mod meaning;
mod parameters;
mod places;
mod refusal;
mod strip;
mod validate;

use oxc_allocator::Allocator;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

/// Whether a text is JS that an engine compiles, as the body of an async function where it is a script no more.
#[track_caller]
fn assert_parses(code: &str) {
    for framed in [code.to_owned(), format!("async function* f(){{{code}\n}}")] {
        let allocator = Allocator::default();
        let options = ParseOptions { parse_regular_expression: true, ..ParseOptions::default() };
        let parsed = Parser::new(&allocator, &framed, SourceType::script()).with_options(options).parse();
        if parsed.diagnostics.is_empty() {
            return;
        }
    }
    panic!("this is no JS: {code}");
}
