//! The image of the server: the program, the module that it runs, and the authorities that it trusts. It has neither a shell nor
//! another program, and no user that may write anything.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::archive::{Archive, gzip};
use crate::digest::sha256;
use crate::layout::{CONFIG, EMPTY, INDEX, LAYER, Layout, MANIFEST, with};
use crate::places::VERSION;
use crate::{Architecture, Places, Problem, Revision, certificates};

/// A user without rights, and without a name on any node.
const USER: &str = "65532:65532";

/// Programs that look a user up find one.
const PASSWD: &str = "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n";
const GROUP: &str = "root:x:0:\nnonroot:x:65532:\n";

/// Where a kubelet with a registry of OCI 1.1 finds out what is in the image.
const BILL: &str = "application/vnd.cyclonedx+json";

/// Assembles the image of the programs that were built, in `target/image/`, with the bill of materials as a referrer.
///
/// # Errors
/// What is missing, and what cannot be read or written.
pub fn write_image(places: &Places, revision: &Revision) -> Result<(), Problem> {
    let labels = labels(places, revision)?;
    let mut layout = Layout::default();
    let mut platforms = Vec::new();
    for (architecture, program) in places.programs()? {
        let root = root(places, program, revision)?;
        let manifest = manifest(&mut layout, architecture, &root, &labels, revision)?;
        platforms.push(with(manifest, "platform", json!({"architecture": architecture.name(), "os": "linux"})));
    }
    let image = match <[Value; 1]>::try_from(platforms) {
        Ok([only]) => only,
        Err(several) => {
            let index = json!({"annotations": labels, "manifests": several, "mediaType": INDEX, "schemaVersion": 2});
            layout.document(INDEX, &index)
        }
    };
    let bill = referrer(&mut layout, &image, places.bill()?, revision);
    let tag = json!({"org.opencontainers.image.ref.name": format!("v{VERSION}")});
    layout.name(with(image, "annotations", tag));
    layout.name(bill);
    layout.write(&places.image())
}

/// The root file system, as tar.
fn root(places: &Places, program: Vec<u8>, revision: &Revision) -> Result<Vec<u8>, Problem> {
    let mut root = Archive::new(revision.time);
    root.file("placement-guard", true, program);
    root.file("policy.wasm", false, places.module()?);
    root.file("LICENSE", false, places.licence()?);
    root.file(certificates::PATH, false, certificates::bundle());
    root.file("etc/passwd", false, PASSWD);
    root.file("etc/group", false, GROUP);
    root.tar()
}

fn manifest(
    layout: &mut Layout,
    architecture: Architecture,
    root: &[u8],
    labels: &BTreeMap<String, String>,
    revision: &Revision,
) -> Result<Value, Problem> {
    let created = revision.written();
    let config = json!({
        "architecture": architecture.name(),
        "config": {
            "Cmd": ["--help"],
            "Entrypoint": ["/placement-guard"],
            "Env": ["PATH=/"],
            "ExposedPorts": {"8081/tcp": {}, "8443/tcp": {}},
            "Labels": labels,
            "User": USER,
            "WorkingDir": "/",
        },
        "created": created,
        "history": [{"created": created, "created_by": "make image"}],
        "os": "linux",
        "rootfs": {"diff_ids": [format!("sha256:{}", sha256(root))], "type": "layers"},
    });
    let config = layout.document(CONFIG, &config);
    let layer = layout.blob(LAYER, gzip(root)?);
    let manifest = json!({
        "annotations": labels, "config": config, "layers": [layer], "mediaType": MANIFEST, "schemaVersion": 2,
    });
    Ok(layout.document(MANIFEST, &manifest))
}

/// A manifest with the bill of materials, which refers to the image.
fn referrer(layout: &mut Layout, image: &Value, bill: Vec<u8>, revision: &Revision) -> Value {
    let title = json!({"org.opencontainers.image.title": "placement-guard.cdx.json"});
    let bill = with(layout.blob(BILL, bill), "annotations", title);
    let config = layout.blob(EMPTY, b"{}".to_vec());
    let subject = json!({"digest": image["digest"], "mediaType": image["mediaType"], "size": image["size"]});
    let annotations = json!({"org.opencontainers.image.created": revision.written()});
    let manifest = json!({
        "annotations": annotations, "artifactType": BILL, "config": config, "layers": [bill], "mediaType": MANIFEST,
        "schemaVersion": 2, "subject": subject,
    });
    with(layout.document(MANIFEST, &manifest), "artifactType", json!(BILL))
}

/// What registries and scanners show.
fn labels(places: &Places, revision: &Revision) -> Result<BTreeMap<String, String>, Problem> {
    let metadata = places.metadata()?;
    let of_policy = [("description", "description"), ("licenses", "license"), ("source", "source"), ("url", "url")];
    let known = of_policy.into_iter().filter_map(|(label, name)| {
        let value = metadata.annotations.get(&format!("io.kubewarden.policy.{name}"))?;
        Some((label, value.clone()))
    });
    let own = [
        ("created", revision.written()),
        ("revision", revision.commit.clone()),
        ("title", String::from("placement-guard")),
        ("version", format!("v{VERSION}")),
    ];
    Ok(known.chain(own).map(|(label, value)| (format!("org.opencontainers.image.{label}"), value)).collect())
}
