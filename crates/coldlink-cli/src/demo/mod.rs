//! What `coldlink demo` works on: a generated world of papers.

mod words;
pub mod world;
