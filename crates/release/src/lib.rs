//! What a release has, assembled of what was built: the same input gives the same bytes, on every machine.
//!
//! It builds nothing itself, and needs neither a daemon nor a tool for images. Every place below the root of the repository at
//! which something lies is in [`Places`].

mod archive;
mod certificates;
mod digest;
mod files;
mod image;
mod krew;
mod layout;
mod places;
mod problem;
mod shell;

pub use archive::Archive;
pub use files::write_files;
pub use image::write_image;
pub use krew::manifest as krew_manifest;
pub use places::{Architecture, Places, Revision};
pub use problem::Problem;
pub use shell::{Page, pages};
