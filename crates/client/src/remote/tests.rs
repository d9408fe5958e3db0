//! What is made of what a server says.

mod pages;
mod refusals;
