//! The comments of a file. A token stream has none, so this is a lexer of its
//! own that knows just enough Rust not to take a string, a raw string, a
//! character or a lifetime for the start of one.

#[cfg(test)]
mod tests;

/// A comment, doc or not, with its slashes and stars.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// The line it starts on, counted from 1.
    pub(crate) line: usize,
    /// As written.
    pub(crate) text: String,
}

/// Every comment of `code`, which has to be Rust that lexes.
pub(crate) fn all(code: &str) -> Vec<Comment> {
    let mut cursor = Cursor { rest: code, line: 1 };
    let mut comments = Vec::new();
    while let Some(next) = cursor.peek() {
        let (start, line) = (cursor.rest, cursor.line);
        if cursor.rest.starts_with("//") {
            cursor.skip_while(|c| c != '\n');
        } else if cursor.rest.starts_with("/*") {
            cursor.skip_block_comment();
        } else {
            match next {
                '"' => cursor.skip_string(),
                '\'' => cursor.skip_quote(),
                c if is_word(c) => cursor.skip_word_or_raw_string(),
                _ => cursor.skip(),
            }
            continue;
        }
        let length = start.len() - cursor.rest.len();
        comments.push(Comment { line, text: start.get(..length).unwrap_or_default().to_owned() });
    }
    comments
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What is left of the text, and the line it starts on. Every step but
/// [`Cursor::peek`] moves on or is at the end, so a loop over it ends.
struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let taken = chars.next();
        self.rest = chars.as_str();
        self.line += usize::from(taken == Some('\n'));
        taken
    }

    fn skip(&mut self) {
        self.take();
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.skip();
        }
    }

    /// From `/*` to the `*/` that closes it, those in between being nested.
    fn skip_block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.skip();
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.skip();
            }
            if self.take().is_none() || depth == 0 {
                return;
            }
        }
    }

    /// From `"` to the next one that is not escaped.
    fn skip_string(&mut self) {
        self.skip();
        self.skip_past_closing('"');
    }

    fn skip_past_closing(&mut self, quote: char) {
        while let Some(c) = self.take() {
            if c == '\\' {
                self.skip();
            } else if c == quote {
                return;
            }
        }
    }

    /// From `'`: to the end of a character, or over the quote of a lifetime.
    fn skip_quote(&mut self) {
        self.skip();
        let mut chars = self.rest.chars();
        match (chars.next(), chars.next()) {
            (Some('\\'), _) | (Some(_), Some('\'')) => self.skip_past_closing('\''),
            _ => {}
        }
    }

    /// A word; and when it is the prefix of a raw string, that string.
    fn skip_word_or_raw_string(&mut self) {
        let start = self.rest;
        self.skip_while(is_word);
        let word = start.get(..start.len() - self.rest.len()).unwrap_or_default();
        let after_hashes = self.rest.trim_start_matches('#');
        if !matches!(word, "r" | "br" | "cr") || !after_hashes.starts_with('"') {
            return;
        }
        let hashes = self.rest.len() - after_hashes.len();
        let closing = format!("\"{}", "#".repeat(hashes));
        self.skip_while(|c| c == '#');
        self.skip();
        while !self.rest.is_empty() && !self.rest.starts_with(&closing) {
            self.skip();
        }
        for _ in closing.chars() {
            self.skip();
        }
    }
}
