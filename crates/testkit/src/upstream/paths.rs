//! Which answer belongs to which request: a function, or a table of paths.

use super::{Answer, Request};

/// Chooses the answer to a request. Functions and [`Paths`] do.
pub trait Answers: Send + Sync + 'static {
    /// The answer to this request.
    fn answer(&self, request: &Request) -> Answer;
}

impl<Choose: Fn(&Request) -> Answer + Send + Sync + 'static> Answers for Choose {
    fn answer(&self, request: &Request) -> Answer {
        self(request)
    }
}

/// A table of paths; the query does not count. Any other path is a 404.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    table: Vec<(String, Answer)>,
}

impl Paths {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// With an answer at this path.
    #[must_use]
    pub fn at(mut self, path: &str, answer: Answer) -> Self {
        self.table.push((path.to_owned(), answer));
        self
    }

    /// With redirects from `{path}/0` to `{path}/1` and on, until `{path}/{rungs}` gives the answer.
    #[must_use]
    pub fn ladder(self, path: &str, rungs: usize, status: u16, answer: Answer) -> Self {
        (0..rungs)
            .fold(self, |table, rung| {
                table.at(&format!("{path}/{rung}"), Answer::redirect(status, &format!("{path}/{}", rung + 1)))
            })
            .at(&format!("{path}/{rungs}"), answer)
    }
}

impl Answers for Paths {
    fn answer(&self, request: &Request) -> Answer {
        let asked = request.path();
        let found = self.table.iter().find(|(path, _)| path == asked).map(|(_, answer)| answer.clone());
        found.unwrap_or_else(|| Answer::new(404).body("no such path"))
    }
}
