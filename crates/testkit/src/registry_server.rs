//! Debian's `docker-registry` as a process on the loopback interface, with a folder of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// `s3cret`, as `htpasswd -B` hashes it.
const HTPASSWD: &str = "me:$2b$05$abcdefghijklmnopqrstuuLK7U1u6pVRmL7L1BBM2aS35PSZnDXlK\n";

/// A registry that ends with the test, also when the test fails.
pub struct Server {
    pub host: String,
    process: Mutex<Child>,
}

impl Server {
    /// A registry whose storage lies in `folder`; what lies there already is in it.
    pub fn start(folder: &Path) -> Self {
        Self::run(folder, "")
    }

    /// A registry that knows the user `me` with the password `s3cret` and no other user.
    pub fn with_password(folder: &Path) -> Self {
        let htpasswd = folder.join("htpasswd");
        std::fs::write(&htpasswd, HTPASSWD).unwrap();
        Self::run(folder, &format!("auth: {{htpasswd: {{realm: test, path: {}}}}}\n", htpasswd.display()))
    }

    fn run(folder: &Path, auth: &str) -> Self {
        let config = folder.join("config.yml");
        let storage = storage(folder);
        // Port 0: the kernel chooses a free one, and the registry says which.
        let text = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\n\
             http: {{addr: \"127.0.0.1:0\"}}\n{auth}",
            storage.display()
        );
        std::fs::write(&config, text).unwrap();
        let mut process = Command::new("docker-registry")
            .args(["serve".as_ref(), config.as_os_str()])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("docker-registry: {error}; `apt-get install docker-registry` installs it"));
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.by_ref().find_map(|line| {
            let rest = line.split_once("listening on ")?.1;
            Some(rest.split('"').next()?.to_owned())
        });
        // A full pipe that is not read would stop the registry.
        std::thread::spawn(move || lines.for_each(drop));
        let host = address.unwrap_or_else(|| panic!("docker-registry ended before it listened"));
        Server { host, process: Mutex::new(process) }
    }

    /// Ends it as a crash would.
    pub fn kill(&self) {
        let mut process = self.process.lock().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(process) = self.process.get_mut() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn storage(folder: &Path) -> PathBuf {
    folder.join("storage")
}

/// The file in which the registry keeps a blob.
pub fn blob(folder: &Path, digest: &str) -> PathBuf {
    let hex = digest.strip_prefix("sha256:").unwrap();
    storage(folder).join(format!("docker/registry/v2/blobs/sha256/{}/{hex}/data", &hex[..2]))
}
