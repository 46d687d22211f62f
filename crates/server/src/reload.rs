//! Certificates that change while the server runs.
//!
//! The server reads the files again and again and compares them, rather than watching them: Kubernetes swaps a symbolic
//! link somewhere above them, which looks the same to a reader on every file system. New files take effect for the next
//! handshake, or the next request; connections stay open. The log mentions once what cannot be used, and the old files
//! stay in force.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio_rustls::rustls::crypto::CryptoProvider;

use crate::client_identity::Authority;
use crate::metrics::Metrics;
use crate::serving_pair::{CannotUse, ServingPair, Validity};

/// Makes something of files: their names, and their contents in the same order.
type Make<T> = fn(&[PathBuf], &[Vec<u8>], &Arc<CryptoProvider>) -> Result<T, CannotUse>;

/// Files, and what was made of them last.
struct Watched<T> {
    /// For people and metrics.
    what: &'static str,
    files: Vec<PathBuf>,
    /// As they were read last, even if they could not be used; empty if they could not be read.
    seen: Mutex<Vec<Vec<u8>>>,
    current: Arc<ArcSwap<T>>,
    make: Make<T>,
    validity: fn(&T) -> Validity,
}

fn read(files: &[PathBuf]) -> Result<Vec<Vec<u8>>, CannotUse> {
    let read =
        |file: &PathBuf| std::fs::read(file).map_err(|error| CannotUse::new(file, format!("cannot be read: {error}")));
    files.iter().map(read).collect()
}

impl<T> Watched<T> {
    fn load(
        what: &'static str,
        files: Vec<PathBuf>,
        make: Make<T>,
        validity: fn(&T) -> Validity,
        (cryptography, metrics): (&Arc<CryptoProvider>, &Metrics),
    ) -> Result<Self, CannotUse> {
        let seen = read(&files)?;
        let made = make(&files, &seen, cryptography)?;
        metrics.loaded(what, validity(&made));
        let current = Arc::new(ArcSwap::from_pointee(made));
        Ok(Watched { what, files, seen: Mutex::new(seen), current, make, validity })
    }

    fn look(&self, cryptography: &Arc<CryptoProvider>, metrics: &Metrics) {
        let (first, again) = (read(&self.files), read(&self.files));
        // Files may be swapped between two reads; the next look sees them whole.
        let contents = match (first, again) {
            (Ok(first), Ok(again)) if first == again => Ok(first),
            (Err(error), Err(_)) => Err(error),
            _ => return,
        };
        let found = contents.as_ref().cloned().unwrap_or_default();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == found {
            return;
        }
        *seen = found;
        drop(seen);
        let made = contents.and_then(|contents| (self.make)(&self.files, &contents, cryptography));
        match made {
            Ok(made) => {
                metrics.loaded(self.what, (self.validity)(&made));
                metrics.reloaded(self.what, "loaded");
                tracing::info!(what = self.what, until = (self.validity)(&made).until, "reloaded");
                self.current.store(Arc::new(made));
            }
            Err(error) => {
                metrics.reloaded(self.what, "failed");
                tracing::error!(what = self.what, %error, "not reloaded; the old files stay in use");
            }
        }
    }
}

/// The files of one server.
pub struct Files {
    pair: Watched<ServingPair>,
    authorities: Vec<Watched<Authority>>,
    cryptography: Arc<CryptoProvider>,
    metrics: Arc<Metrics>,
}

impl Files {
    /// Loads the serving pair.
    pub fn load(
        (certificate, key): (PathBuf, PathBuf),
        cryptography: Arc<CryptoProvider>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, CannotUse> {
        let make = |files: &[PathBuf], contents: &[Vec<u8>], cryptography: &Arc<CryptoProvider>| match (files, contents)
        {
            ([certificate_file, key_file], [certificate, key]) => {
                ServingPair::read((certificate_file, certificate), (key_file, key), cryptography)
            }
            _ => Err(CannotUse::new(&PathBuf::new(), "a certificate and a key are required")),
        };
        let context = (&cryptography, &*metrics);
        let pair = Watched::load("serving certificate", vec![certificate, key], make, |pair| pair.validity, context)?;
        Ok(Files { pair, authorities: Vec::new(), cryptography, metrics })
    }

    /// Loads a client CA too.
    pub fn load_authority(&mut self, what: &'static str, file: PathBuf) -> Result<Arc<ArcSwap<Authority>>, CannotUse> {
        let make = |files: &[PathBuf], contents: &[Vec<u8>], cryptography: &Arc<CryptoProvider>| match (files, contents)
        {
            ([file], [pem]) => Authority::read(file, pem, cryptography),
            _ => Err(CannotUse::new(&PathBuf::new(), "one file of certificates is required")),
        };
        let context = (&self.cryptography, &*self.metrics);
        let authority = Watched::load(what, vec![file], make, |authority| authority.validity, context)?;
        let current = Arc::clone(&authority.current);
        self.authorities.push(authority);
        Ok(current)
    }

    /// The pair to show, as it was loaded last.
    pub fn pair(&self) -> Arc<ArcSwap<ServingPair>> {
        Arc::clone(&self.pair.current)
    }

    /// Loads what has changed.
    pub fn look(&self) {
        self.pair.look(&self.cryptography, &self.metrics);
        for authority in &self.authorities {
            authority.look(&self.cryptography, &self.metrics);
        }
    }

    /// When each of them is valid.
    pub fn validities(&self) -> Vec<(&'static str, Validity)> {
        let authorities = self.authorities.iter().map(|it| (it.what, it.current.load().validity));
        std::iter::once((self.pair.what, self.pair.current.load().validity)).chain(authorities).collect()
    }
}
