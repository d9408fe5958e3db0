//! Who may come in: host and origin, credentials, rates, what every answer carries.
//!
//! A request that passed carries its [`Principal`] as an extension; a route that finds none refuses. The credentials
//! themselves are gone from it by then, so that no route can show them to anybody. Start reading at [`Perimeter`].

mod credentials;
mod guard;
mod held;
mod host;
mod keyring;
mod origin;
mod principal;
mod rates;
mod refusals;
mod resource;
mod slots;
#[cfg(test)]
mod tests;
mod tokens;
mod who;

pub use guard::{NoAuth, Perimeter, PerimeterSettings, may_listen};
pub(crate) use held::Held;
pub use keyring::{KeyShown, Keyring, NotAKey};
pub use principal::Principal;
pub(crate) use resource::Resource;
pub use slots::{OPERATORS_SLOTS, Slot};
pub use tokens::{KeySource, NotAToken, TokenShown, Tokens};
