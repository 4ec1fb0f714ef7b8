//! The command line of coldlink.

#[allow(dead_code)]
mod demo;

fn main() {}
