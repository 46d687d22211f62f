//! Where a module may come from, and what it must prove before it is used.

use std::path::PathBuf;

use registry::{Access, Pulled, Trust, VerifyKey};

use crate::complaint::Complaint;
use crate::transfer::watched;

/// What the command line says about registries and modules.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Origin {
    /// Use plain HTTP; only for a registry on this machine
    #[arg(long)]
    insecure: bool,

    /// Refuse a module whose reference has no digest
    #[arg(long)]
    require_digest: bool,

    /// Refuse a module that is not signed with this key: `PUBLIC KEY` in PEM, ECDSA on P-256 or Ed25519
    #[arg(long, value_name = "FILE")]
    verify_key: Option<PathBuf>,
}

impl Origin {
    /// Pulls a module.
    ///
    /// # Errors
    /// What keeps it from arriving unchanged, and a proof that is missing.
    pub fn fetch(&self, reference: &str) -> Result<Pulled, Complaint> {
        let key = self.verify_key.as_deref().map(VerifyKey::read).transpose().map_err(Complaint::said)?;
        let trust = Trust { digest_required: self.require_digest, key: key.as_ref() };
        let (bar, progress) = watched();
        let pulled = registry::pull(reference, &Access::of_this_user(self.insecure), trust, &progress);
        bar.finish_and_clear();
        pulled.map_err(Complaint::said)
    }

    /// Whether a file may be used as a module: a file has neither a digest to compare with nor a signature.
    ///
    /// # Errors
    /// When a proof is required.
    pub fn allows_file(&self, name: &str) -> Result<(), Complaint> {
        let option = match (self.require_digest, &self.verify_key) {
            (false, None) => return Ok(()),
            (true, _) => "--require-digest",
            (false, Some(_)) => "--verify-key",
        };
        let problem = format!("`{option}` needs a module in a registry, and this is a file");
        Err(Complaint::new(name, problem, "name `HOST/REPOSITORY@sha256:…`"))
    }
}
