//! The module that a command is to run, in one way for all of them: from a file, or from a registry.

use std::path::Path;

use crate::cluster::Surroundings;
use crate::complaint::Complaint;
use crate::origin::Origin;

/// A module that was compiled.
pub struct Loaded {
    /// As it was asked for.
    name: String,
    running: engine::Running,
}

impl Loaded {
    /// Loads a module for one judgement after the other.
    ///
    /// # Errors
    /// A file or a reference that gives no module, bytes that are not one, and a build that runs none.
    pub fn load(name: &str, origin: &Origin) -> Result<Self, Complaint> {
        Ok(Loaded { name: name.to_owned(), running: engine::load(name, origin)? })
    }

    /// Calls a function of the module, which may ask about the cluster.
    ///
    /// # Errors
    /// What keeps the module from answering.
    pub fn call(&self, function: &str, payload: &str, surroundings: &Surroundings) -> Result<Vec<u8>, Complaint> {
        let answer = self.running.call(function, payload, surroundings);
        // Some of wasmtime's complaints end with a full stop.
        answer.map_err(|error| self.unusable(format!("does not answer: {error}").trim_end_matches('.')))
    }

    /// What to say of a module that does not answer as this program's does.
    pub fn unusable(&self, problem: &str) -> Complaint {
        Complaint::new(&self.name, problem, "give a module of this program")
    }
}

/// Whether a module is asked for in a registry: `registry://` says so, and else a host before the first slash, unless there
/// is such a file or the name can only be that of one.
pub fn is_reference(name: &str) -> bool {
    if name.starts_with("registry://") {
        return true;
    }
    let is_file = name.starts_with('.') || name.ends_with(".wasm") || Path::new(name).exists();
    let host = name.split_once('/').map(|(host, _)| host);
    !is_file && host.is_some_and(|host| host == "localhost" || host.contains(['.', ':']))
}

/// A build with wasmtime.
#[cfg(feature = "server")]
pub mod engine {
    use host::{CannotCall, Host, Limits, Memory, Module};

    use super::is_reference;
    use crate::cluster::Surroundings;
    use crate::complaint::Complaint;
    use crate::origin::Origin;
    use crate::output;

    /// What a call of a module may use: the memory of a small pod, and more time than Kubewarden's two seconds, since
    /// no other request waits.
    const LIMITS: Limits = Limits { memory: Memory::AtMost { bytes: 64 << 20, instances: 1 }, seconds: 30 };

    pub(super) struct Running(Module);

    impl Running {
        pub(super) fn call(
            &self,
            function: &str,
            payload: &str,
            surroundings: &Surroundings,
        ) -> Result<Vec<u8>, CannotCall> {
            self.0.call_with(function, payload.as_bytes(), surroundings.clone())
        }
    }

    pub(super) fn load(name: &str, origin: &Origin) -> Result<Running, Complaint> {
        let compiled = compile(name, origin, LIMITS, "judge without `--module`")?;
        if compiled.by_tag {
            output::warn(&format!("`{name}` names a tag, which can move; now it leads to `{}`", compiled.known_as));
        }
        Ok(Running(compiled.module))
    }

    /// A module, and what a log calls it.
    pub struct Compiled {
        pub module: Module,
        /// From a registry the reference by digest, and else the name.
        pub known_as: String,
        /// Whether the reference names a tag, which anyone who may push can move.
        pub by_tag: bool,
    }

    /// Loads a module whose calls keep within `limits`. `remedy` is what helps where wasmtime cannot run within them.
    ///
    /// # Errors
    /// A file or a reference that gives no module, and bytes that are not one.
    pub fn compile(name: &str, origin: &Origin, limits: Limits, remedy: &str) -> Result<Compiled, Complaint> {
        let in_registry = is_reference(name);
        let (bytes, known_as) = if in_registry {
            let pulled = origin.fetch(name)?;
            (pulled.module, pulled.by_digest)
        } else {
            origin.allows_file(name)?;
            let read = std::fs::read(name).map_err(|error| {
                let problem = format!("cannot be read: {error}");
                Complaint::new(name, problem, "name a module file, or `HOST/REPOSITORY:TAG` in a registry")
            })?;
            (read, name.to_owned())
        };
        let host = Host::new(limits).map_err(|error| Complaint::new(name, error, remedy))?;
        let module = host.compile(name, &bytes);
        let module = module.map_err(|error| Complaint::new(name, &error.fault, error.fault.remedy()))?;
        Ok(Compiled { module, known_as, by_tag: in_registry && !name.contains('@') })
    }
}

/// A build without.
#[cfg(not(feature = "server"))]
mod engine {
    use std::convert::Infallible;

    use crate::cluster::Surroundings;
    use crate::complaint::Complaint;
    use crate::origin::Origin;

    pub(super) struct Running(Infallible);

    impl Running {
        pub(super) fn call(&self, _: &str, _: &str, _: &Surroundings) -> Result<Vec<u8>, Infallible> {
            match self.0 {}
        }
    }

    pub(super) fn load(name: &str, _origin: &Origin) -> Result<Running, Complaint> {
        Err(Complaint::new(name, "this build of the program cannot run modules", crate::WITHOUT_SERVER))
    }
}
