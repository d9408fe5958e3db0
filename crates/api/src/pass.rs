//! Local Passes: what ran, and how it went.

use bailiwick_types::{ErrorCode, Failure, Risk};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::shape::{shape, words};
use crate::{Fault, schema};

words! {
    /// How a test went.
    TestVerdict of bailiwick_core::TestVerdict {
        /// As expected.
        Passed,
        /// Not as expected.
        Failed,
        /// It would need the network, and no answer is canned.
        Unanswered,
    }
}

shape! {
    /// One expectation that was not met.
    Missed of bailiwick_core::Missed {
        /// Which: `equals`.
        kind: String,
        /// What was expected and what came.
        message: String,
        /// Line by line.
        diff: Option<String>,
    }
}

shape! {
    /// One run of a Local Pass.
    TestLine of bailiwick_core::TestLine {
        /// The test's name; `test values` for the run with those.
        name: String,
        /// How it went.
        verdict: TestVerdict,
        /// Milliseconds it took.
        ms: f64,
        /// What was not as expected.
        misses: Vec<Missed>,
        /// The failure of the code, if it failed and that was not expected.
        #[schema(value_type = Option<schema::Failure>)]
        failure: Option<Failure>,
    }
}

shape! {
    /// Why nothing could be run.
    TestedRefusal of bailiwick_core::Refusal {
        /// What kind of refusal.
        #[schema(value_type = schema::ErrorCode)]
        code: ErrorCode,
        /// What happened.
        message: String,
        /// What to do next.
        hint: Option<String>,
        /// Every mistake, where a document has some.
        faults: Vec<Fault>,
    }
}

shape! {
    /// A Local Pass that ran.
    Tested of bailiwick_core::Tested {
        /// The tool's name.
        tool: String,
        /// Whether it passed.
        passed: bool,
        /// The state afterwards; null for a document that is not kept.
        state: Option<String>,
        /// Each run.
        lines: Vec<TestLine>,
        /// The badge it passed under.
        #[schema(value_type = Option<schema::Risk>)]
        risk: Option<Risk>,
        /// Why nothing could be run.
        refused: Option<TestedRefusal>,
    }
}

/// Local Passes that ran, one a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestedAll {
    /// Each of them.
    pub tested: Vec<Tested>,
}
