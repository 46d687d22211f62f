//! What a release has, of small stand-ins for what is built.

#![allow(clippy::restriction)]

mod archives;
mod files;
mod image;
mod krew;
mod promises;
mod pulled;
mod shell;
mod stand_in;
mod workflows;
