//! One parse of a source in the frame its entry gives it. The frame is ours and the author's text cannot leave it: a
//! text that closes the frame and goes on behind it is a syntax error.

use bailiwick_wire::{Entry, Language};
use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, Program, Statement};
use oxc_parser::Parser;
use oxc_span::{GetSpan, LabeledSpan, SourceType, Span};
use oxc_syntax::identifier::is_identifier_part;

use crate::{Lines, SourceError, SourceErrorKind};

/// A parsed source in its frame. All offsets are those of [`Unit::text`], frame included.
pub(crate) struct Unit<'u, 'a> {
    pub(crate) entry: Entry,
    /// What the author says it is written in.
    pub(crate) language: Language,
    pub(crate) program: &'u Program<'a>,
    /// The author's text in its frame.
    pub(crate) text: &'a str,
    source: &'u str,
    before: u32,
}

/// What is put around the author's text.
struct Frame {
    before: &'static str,
    after: &'static str,
}

impl Frame {
    const fn of(entry: Entry) -> Self {
        match entry {
            Entry::Body => Self { before: "async function f(){", after: "\n}" },
            Entry::Expression => Self { before: "async function f(){return (", after: "\n)}" },
            Entry::Execute | Entry::Emit | Entry::Script => Self { before: "", after: "" },
        }
    }
}

/// Parses a source and hands it on. [`Language::Either`] is JavaScript if that parses, else TypeScript.
pub(crate) fn with<T>(
    source: &str,
    entry: Entry,
    language: Language,
    use_it: impl Fn(&Unit<'_, '_>) -> Result<T, SourceError>,
) -> Result<T, SourceError> {
    let parse = |source_type| once(source, (entry, language), source_type, &use_it);
    match language {
        Language::JavaScript => parse(SourceType::script())?,
        Language::TypeScript => parse(typescript())?,
        Language::Either => match parse(SourceType::script()) {
            Ok(result) => result,
            Err(_) => parse(typescript())?,
        },
    }
}

fn typescript() -> SourceType {
    SourceType::ts().with_script(true)
}

/// The outer result is the parse, the inner one what was made of it.
fn once<T>(
    source: &str,
    (entry, language): (Entry, Language),
    source_type: SourceType,
    use_it: &impl Fn(&Unit<'_, '_>) -> Result<T, SourceError>,
) -> Result<Result<T, SourceError>, SourceError> {
    let frame = Frame::of(entry);
    let text = [frame.before, source, frame.after].concat();
    let before = u32::try_from(frame.before.len()).unwrap_or_default();
    let allocator = Allocator::default();
    if u32::try_from(text.len()).is_err() {
        return Err(syntax("the source is too long".to_owned(), None));
    }
    let parsed = Parser::new(&allocator, &text, source_type).parse();
    let place = |offset: u32| Lines::new(source).location(offset.saturating_sub(before) as usize);

    for diagnostic in parsed.diagnostics.errors() {
        let offset = diagnostic.labels.first().map(LabeledSpan::offset);
        // `import.meta` is told by validation, with what to do about it.
        if !parsed.panicked && offset.is_some_and(|offset| starts_with(&text, offset, "import.meta")) {
            continue;
        }
        if let Some(brace) = way_out(&frame, source, source_type) {
            return Err(stray(entry, place(brace)));
        }
        if entry == Entry::Expression && source.trim().is_empty() {
            return Err(syntax("there is no expression".to_owned(), Some(place(before))));
        }
        return Err(syntax(diagnostic.message.to_string(), offset.map(place)));
    }
    if let Err(brace) = stays_inside(entry, &parsed.program, &text) {
        return Err(stray(entry, place(brace)));
    }
    let unit = Unit { entry, language, program: &parsed.program, text: &text, source, before };
    Ok(use_it(&unit))
}

fn syntax(message: String, location: Option<bailiwick_types::Location>) -> SourceError {
    SourceError { message, location, kind: SourceErrorKind::Syntax }
}

fn stray(entry: Entry, location: bailiwick_types::Location) -> SourceError {
    let message = match entry {
        Entry::Expression => {
            "the code is not one expression: it closes a parenthesis or brace that it did not open"
        }
        _ => "it closes a brace that it did not open",
    };
    syntax(message.to_owned(), Some(location))
}

fn starts_with(text: &str, offset: u32, word: &str) -> bool {
    text.get(offset as usize..).is_some_and(|rest| rest.starts_with(word))
}

/// Whether the program is the frame and the author's text within; else where the text leaves it.
fn stays_inside(entry: Entry, program: &Program<'_>, text: &str) -> Result<(), u32> {
    if !matches!(entry, Entry::Body | Entry::Expression) {
        return Ok(());
    }
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let Some(Statement::FunctionDeclaration(function)) = program.body.first() else { return Err(end) };
    let last_of_function = function.span.end.saturating_sub(1);
    if program.body.len() != 1 || function.span.end != end {
        return Err(last_of_function);
    }
    if entry == Entry::Body {
        return Ok(());
    }
    let statements = function.body.as_ref().map(|body| &body.statements);
    let Some([Statement::ReturnStatement(only)]) = statements.map(|statements| statements.as_slice()) else {
        let first = statements.and_then(|statements| statements.first());
        return Err(first.map_or(last_of_function, |first| match first {
            Statement::ReturnStatement(first) => {
                first.argument.as_ref().map_or(end, last_of_first_parenthesis)
            }
            other => other.span().end,
        }));
    };
    match &only.argument {
        Some(Expression::ParenthesizedExpression(whole)) if whole.span.end + 1 == end => Ok(()),
        Some(other) => Err(last_of_first_parenthesis(other)),
        None => Err(end),
    }
}

/// The last character of the first thing in parentheses in an expression that begins with one.
fn last_of_first_parenthesis(expression: &Expression<'_>) -> u32 {
    let mut expression = expression;
    loop {
        expression = match expression {
            Expression::BinaryExpression(binary) => &binary.left,
            Expression::LogicalExpression(logical) => &logical.left,
            Expression::CallExpression(call) => &call.callee,
            Expression::ConditionalExpression(conditional) => &conditional.test,
            Expression::StaticMemberExpression(member) => &member.object,
            Expression::ComputedMemberExpression(member) => &member.object,
            Expression::SequenceExpression(sequence) => match sequence.expressions.first() {
                Some(first) => first,
                None => return sequence.span.end.saturating_sub(1),
            },
            other => return other.span().end.saturating_sub(1),
        };
    }
}

/// Where a text that does not parse in its frame closes it, if it does. Read without the frame's own end.
fn way_out(frame: &Frame, source: &str, source_type: SourceType) -> Option<u32> {
    if frame.before.is_empty() {
        return None;
    }
    let text = [frame.before, source].concat();
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &text, source_type).parse();
    match parsed.program.body.first() {
        Some(Statement::FunctionDeclaration(function)) => Some(function.span.end.saturating_sub(1)),
        _ => None,
    }
}

impl<'u, 'a> Unit<'u, 'a> {
    /// The author's part of the text.
    pub(crate) fn author_span(&self) -> Span {
        let length = u32::try_from(self.source.len()).unwrap_or(u32::MAX);
        Span::new(self.before, self.before.saturating_add(length))
    }

    /// The author's text.
    pub(crate) const fn source(&self) -> &'u str {
        self.source
    }

    /// The lines of the author's text, for many places; see [`Unit::offset_in_source`].
    pub(crate) fn lines(&self) -> Lines<'u> {
        Lines::new(self.source)
    }

    /// An offset without the frame.
    pub(crate) const fn offset_in_source(&self, offset: u32) -> usize {
        offset.saturating_sub(self.before) as usize
    }

    /// An error at an offset.
    pub(crate) fn error(&self, kind: SourceErrorKind, offset: u32, message: String) -> SourceError {
        let location = Some(self.lines().location(self.offset_in_source(offset)));
        SourceError { message, location, kind }
    }

    /// The text of a span.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Whether a line ends within a span.
    pub(crate) fn has_line_break(&self, start: u32, end: u32) -> bool {
        start < end && self.slice(Span::new(start, end)).contains(crate::lines::ends_line)
    }

    /// Where the next token begins, at or behind an offset: behind blanks and comments.
    pub(crate) fn token_start(&self, offset: u32) -> u32 {
        let mut offset = offset;
        let comments = &self.program.comments;
        let mut next = comments.partition_point(|comment| comment.span.start < offset);
        loop {
            let rest = self.text.get(offset as usize..).unwrap_or_default();
            let token = rest.trim_start_matches(|one: char| one.is_whitespace() || one == '\u{feff}');
            offset = offset.saturating_add(u32::try_from(rest.len() - token.len()).unwrap_or_default());
            match comments.get(next) {
                Some(comment) if comment.span.start == offset => offset = comment.span.end,
                _ => return offset,
            }
            next += 1;
        }
    }

    /// The token that begins at an offset, if it is a word (else its first character), without the blanks before it.
    pub(crate) fn token(&self, offset: u32) -> Span {
        let start = self.token_start(offset);
        let rest = self.text.get(start as usize..).unwrap_or_default();
        let word = rest.find(|one: char| !is_identifier_part(one)).unwrap_or(rest.len());
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        Span::new(start, start.saturating_add(u32::try_from(length).unwrap_or_default()))
    }

    /// The next token at or behind an offset, if it is this one: a word or a character.
    pub(crate) fn next_if(&self, offset: u32, token: &str) -> Option<Span> {
        Some(self.token(offset)).filter(|span| self.slice(*span) == token)
    }
}
