//! The shapes of the HTTP interface: what a request holds and what an answer holds, with their schemas.
//!
//! Apart from what is behind it: an inner type may change, a shape here only gains fields. Each shape is made from the
//! inner type and back by one conversion, so that the server and whoever asks it agree by construction. It must never
//! decide anything.
//!
//! Start reading at `shape`, then at the file of the area.

mod approval;
mod audit;
mod event;
mod exec;
mod execute;
mod key;
mod limits;
mod look;
mod pass;
mod problem;
mod review;
mod sandbox;
pub mod schema;
mod shape;
mod tool;

pub use approval::{
    Actor, Answer, AnswerWord, Approvals, EffectAsked, LastYes, Question, Remember, Remembered,
    RememberedFor, RememberedYes, Waiting,
};
pub use audit::{RecordPage, Records, Retain, Retained, Verified};
pub use event::{
    ApprovalNews, Heard, MissedEvents, News, Progress, SandboxChange, Settled, TestEvent, ToolChange,
};
pub use exec::{
    AHEAD, Exec, ExecFresh, Executed, Output, TerminalSaid, TerminalStart, TerminalTold, Window, stream_byte,
    stream_of, terminal_message,
};
pub use execute::{Execute, ExecuteCode, ExecuteTool, Validate};
pub use key::{KeyLine, KeyMade, KeyWish, Keys, SecretLine, Secrets};
pub use limits::{BlockedName, LimitsView};
pub use look::{Checked, CodeChecked, CodeFinding, Fault, Found, PolicyView};
pub use pass::{Missed, TestLine, TestVerdict, Tested, TestedAll, TestedRefusal};
pub use problem::{MEDIA_TYPE, Problem, URN, retry_after, status};
pub use review::{Commit, Discard, Expose, ExposedPort, ExposedPorts, Landed, Shown};
pub use sandbox::{
    Entries, Entry, EntryKind, ExecUsage, Fork, Mount, Overlay, SandboxLimits, SandboxLine, SandboxPage,
    SandboxView, SandboxWish, SnapshotLine, SnapshotPage,
};
pub use tool::{
    Change, DocumentIn, Documents, Export, Import, Imported, ImportedAll, NamedDocument, Publish,
    PublishDocument, Published, Test, TestWhich, ToolLine, ToolPage, ToolView, Try, Which,
};
