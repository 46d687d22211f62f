//! How a registry is spoken to: over which protocol, and as whom.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::PathBuf;

use docker_credential::{CredentialRetrievalError, DockerCredential};
use oci_client::secrets::RegistryAuth;

use crate::RegistryError;
use crate::location::Location;

/// How registries are spoken to.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Plain HTTP, which is for registries on this machine alone.
    pub insecure: bool,
    /// The folder in which Docker keeps `config.json`; `None` where there is none, and everything is asked anonymously.
    pub docker_config: Option<PathBuf>,
}

/// As whom a registry is asked, for the protocol and for a sentence about it.
pub(crate) struct Credentials {
    pub auth: RegistryAuth,
    pub described: String,
}

impl Access {
    /// The credentials of the user who runs this program: in the folder `DOCKER_CONFIG`, or else in `.docker` in `HOME`.
    pub fn of_this_user(insecure: bool) -> Self {
        let variable = |name| std::env::var_os(name);
        Access { insecure, docker_config: docker_config(variable("DOCKER_CONFIG"), variable("HOME")) }
    }

    /// Looks the registry up in Docker's `config.json`, credential helpers included. Where nothing is said of it, it is
    /// asked anonymously; credentials that cannot be used are an error, because their author relies on them.
    pub(crate) fn credentials(&self, location: &Location) -> Result<Credentials, RegistryError> {
        let anonymous = |described| Ok(Credentials { auth: RegistryAuth::Anonymous, described });
        let Some(folder) = &self.docker_config else {
            return anonymous(String::from(
                "no credentials were sent, because there is no Docker configuration folder",
            ));
        };
        let file = folder.join("config.json");
        let unusable =
            |reason: String| RegistryError::Credentials { host: location.host(), file: file.clone(), reason };
        let none = || format!("no credentials were sent, because `{}` has none for this registry", file.display());
        let opened = match File::open(&file) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => return anonymous(none()),
            Err(error) => return Err(unusable(error.to_string())),
        };
        match docker_credential::get_credential_from_reader(
            BufReader::new(opened),
            location.reference.resolve_registry(),
        ) {
            Ok(DockerCredential::UsernamePassword(user, password)) => Ok(Credentials {
                described: format!("the user was `{user}`, from `{}`", file.display()),
                auth: RegistryAuth::Basic(user, password),
            }),
            Ok(DockerCredential::IdentityToken(_)) => Err(unusable(String::from(
                "it stores an identity token, but only a user name with a password is supported",
            ))),
            Err(CredentialRetrievalError::NoCredentialConfigured) => anonymous(none()),
            Err(CredentialRetrievalError::ConfigReadError) => {
                Err(unusable(String::from("it is not a Docker configuration file")))
            }
            Err(error) => Err(unusable(error.to_string().trim().to_owned())),
        }
    }
}

/// As Docker's own programs look for it; a variable that is set to nothing counts as not set.
fn docker_config(named: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let set = |variable: Option<OsString>| variable.filter(|value| !value.is_empty()).map(PathBuf::from);
    set(named).or_else(|| set(home).map(|home| home.join(".docker")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_config_names_the_folder_and_without_it_the_home_folder_has_it() {
        let cases = [
            (Some("/run/docker"), Some("/home/me"), Some("/run/docker")),
            (None, Some("/home/me"), Some("/home/me/.docker")),
            (Some(""), Some("/home/me"), Some("/home/me/.docker")),
            (None, None, None),
        ];
        for (named, home, folder) in cases {
            let found = docker_config(named.map(OsString::from), home.map(OsString::from));
            assert_eq!(found, folder.map(PathBuf::from), "{named:?}, {home:?}");
        }
    }
}
