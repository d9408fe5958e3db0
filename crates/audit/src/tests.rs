//! The chain and its proof: what holds, and every way in which somebody may have laid hands on it.

mod exports;
mod forms;
mod properties;
mod stage;
mod tampering;
