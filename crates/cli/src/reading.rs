//! What `check` and `audit` read: which files, what in them can be judged, and what could not be.

use std::path::PathBuf;

use crate::complaint::Complaint;
use crate::config::Config;
use crate::input::files::{Excludes, File};
use crate::input::{self, Document, NotJudged, Omitted, Piece, Reason};
use crate::manifest::Manifest;
use crate::output;

/// What is said about reading.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Reading {
    /// Leave out files and folders that match; as in a `.gitignore`, relative to the current folder
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,

    /// Exit with 2 when something could not be judged, such as a file that is not YAML or a Helm template
    #[arg(long)]
    pub strict: bool,
}

impl Reading {
    /// What is left out: what the command line says, and `.placement-guard.yaml`.
    ///
    /// # Errors
    /// A glob that is not one.
    pub fn excludes(&self, config: &Config) -> Result<Excludes, Complaint> {
        let excludes = Excludes::new(&self.exclude)?;
        match &config.exclude {
            Some((folder, globs)) => excludes.and(folder, globs),
            None => Ok(excludes),
        }
    }
}

/// So many keys that appear twice are said of one document.
const REPEATED: usize = 5;

/// What was read, apart from what it is for.
#[derive(Debug, Default)]
pub struct Read {
    pub omitted: Omitted,
    /// The namespace of objects that name none.
    namespace: Option<String>,
    /// What was named, and gave nothing that can be judged.
    pub hopeless: Vec<NotJudged>,
    /// In the file that is being read: what could be judged, and why the rest could not.
    judged: usize,
    wrong: Option<NotJudged>,
}

impl Read {
    /// Where objects that name no namespace belong to this one.
    pub fn within(namespace: Option<&str>) -> Self {
        Read { namespace: namespace.map(str::to_owned), ..Read::default() }
    }

    /// Takes a document as a manifest; what is not one is counted.
    pub fn manifest(&mut self, document: Document) -> Option<Manifest> {
        match Manifest::read(document) {
            Ok(mut manifest) => {
                if let Some(namespace) = &self.namespace {
                    manifest.identity.belongs_to(namespace);
                }
                self.took(&manifest.document);
                Some(manifest)
            }
            Err(wrong) => {
                self.omit(wrong);
                None
            }
        }
    }

    /// A document will be judged.
    pub fn took(&mut self, document: &Document) {
        self.judged = self.judged.saturating_add(1);
        self.omitted.repeated.extend(document.repeated.iter().take(REPEATED).map(|repeated| {
            NotJudged {
                reason: Reason::NotYaml,
                file: document.file.to_string(),
                place: Some(repeated.place),
                problem: format!("`{}` appears twice; the last one counts, as for `kubectl`", repeated.path),
            }
            .to_string()
        }));
        if let Some(more) = document.repeated.len().checked_sub(REPEATED).filter(|more| *more > 0) {
            self.omitted.repeated.push(format!("{}:{}: {more} more keys appear twice", document.file, document.line));
        }
    }

    pub fn omit(&mut self, wrong: NotJudged) {
        if wrong.reason != Reason::NotKubernetes {
            self.wrong.get_or_insert_with(|| wrong.clone());
        }
        self.omitted.add(wrong);
    }

    /// A file ends. One that was named and gives nothing but trouble is why no decision is possible.
    pub fn end_file(&mut self, named: bool, opened: Result<bool, NotJudged>) {
        let wrong = self.wrong.take();
        match opened {
            Err(wrong) if named => self.hopeless.push(wrong),
            Err(wrong) => self.omitted.add(wrong),
            Ok(_) => self.hopeless.extend(wrong.filter(|_| named && self.judged == 0)),
        }
        self.judged = 0;
    }

    /// Reads files as a whole and gives every document to `take`.
    pub fn files(&mut self, files: &[File], take: &mut dyn FnMut(&mut Self, Document)) {
        for File { path, named, .. } in files {
            let mut pieces = Vec::new();
            let opened = input::read(path, &mut |piece| pieces.push(piece));
            self.pieces(pieces, take);
            self.end_file(*named, opened);
        }
    }

    /// The same for contents that are there already.
    pub fn contents(&mut self, files: &[(String, Vec<u8>)], take: &mut dyn FnMut(&mut Self, Document)) {
        for (name, bytes) in files {
            let mut pieces = Vec::new();
            let any = input::read_text(name, bytes, &mut |piece| pieces.push(piece));
            self.pieces(pieces, take);
            self.end_file(false, Ok(any));
        }
    }

    fn pieces(&mut self, pieces: Vec<Piece>, take: &mut dyn FnMut(&mut Self, Document)) {
        for piece in pieces {
            match piece {
                Piece::Document(document) => take(self, document),
                Piece::NotJudged(wrong) => self.omit(wrong),
                Piece::Came(_) => {}
            }
        }
    }

    /// What could not be read in an older revision, where it matters: nothing tells how the objects in it were before. What
    /// is as wrong in the new files is said of them.
    pub fn warn_of_older(&self, revision: &str, new: &Self, is_new: impl Fn(&str) -> bool) {
        for wrong in &self.omitted.defects {
            let is_said = new.omitted.defects.iter().any(|defect| defect.file == wrong.file);
            if !is_said && is_new(&wrong.file) {
                output::warn(&format!("{wrong}, in `{revision}`; what it holds is judged as if it were new"));
            }
        }
    }

    /// Says on standard error what could not be judged, each once; what only counts is in the sum of the output.
    pub fn warn(&self) {
        for wrong in self.omitted.defects.iter().filter(|wrong| !self.hopeless.contains(wrong)) {
            output::warn(&format!("{wrong}; it is not judged"));
        }
        self.omitted.repeated.iter().for_each(|said| output::warn(said));
    }

    /// # Errors
    /// What was named and cannot be read; with `strict`, whatever was not judged.
    pub fn complete(&self, strict: bool) -> Result<(), Complaint> {
        let mut complaints: Vec<Complaint> = self.hopeless.iter().map(NotJudged::complaint).collect();
        if strict && complaints.is_empty() && self.omitted.count.keys().any(|reason| reason.is_meant()) {
            let problem = format!("not everything was judged: {}", self.omitted.words());
            complaints.push(Complaint::new("--strict", problem, "mend them, or leave them out with `--exclude`"));
        }
        // All but the last are said here; the last one is the reason for the exit code.
        let last = complaints.pop();
        complaints.iter().for_each(output::complain);
        last.map_or(Ok(()), Err)
    }
}

/// Standard input can be read once, by whichever argument names it.
///
/// # Errors
/// When several of the paths are `-`.
pub fn one_from_standard_input<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<(), Complaint> {
    if paths.filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Complaint::new("standard input", "is read twice", "give the other as a file"));
    }
    Ok(())
}

/// The files that are meant.
///
/// # Errors
/// A path that is not there, and a folder without any manifest.
pub fn files(paths: &[PathBuf], excludes: &Excludes, read: &mut Read) -> Result<Vec<File>, Complaint> {
    let (files, problems) = input::files::below(paths, excludes)?;
    problems.into_iter().for_each(|problem| read.omitted.add(problem));
    Ok(files)
}
