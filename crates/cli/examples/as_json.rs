//! Prints the documents of files as this program reads them, one line of JSON each, and `error` for each that cannot be
//! read. `tests/cluster/yamlread` prints the same as `kubectl` reads them.

#![allow(clippy::restriction)]

use placement_guard_cli::input::{self, Piece};

fn main() {
    for file in std::env::args().skip(1) {
        println!("# {file}");
        let opened = input::read(std::path::Path::new(&file), &mut |piece| match piece {
            Piece::Document(document) => println!("{}", document.json()),
            Piece::NotJudged(one) => println!("error {one}"),
            Piece::Came(_) => {}
        });
        opened.expect("a file that can be read");
    }
}
