//! `report`: one file that shows what changes, whatever the names in it are.

#![allow(clippy::restriction)]

mod program;

use std::fmt::Write as _;

use program::{Folder, assert_golden};

const REPORT: &str = "report --before before.yaml --after after.yaml";

/// Names that would leave their place in the page if they were not escaped.
const ATTACK: &str = r#"</style></script><script>alert(1)</script>"'><img src=x onerror=alert(2)>&lt;"#;

fn volume(name: &str, zones: &str) -> String {
    let name = serde_json::to_string(name).unwrap();
    format!(
        "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {name}}}\nspec:\n  csi: {{driver: d, volumeHandle: h}}\n  \
         nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: topology.kubernetes.io/zone, \
         operator: In, values: {zones}}}]}}]}}}}\n"
    )
}

fn node(name: &str, zone: &str) -> String {
    let (name, zone) = (serde_json::to_string(name).unwrap(), serde_json::to_string(zone).unwrap());
    format!(
        "- {{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}}}}}}}\n"
    )
}

fn list(nodes: impl IntoIterator<Item = String>) -> String {
    format!("apiVersion: v1\nkind: List\nitems:\n{}", nodes.into_iter().collect::<String>())
}

#[test]
fn a_file_shows_every_change_with_its_nodes_and_what_would_accept_it() {
    let folder = Folder::copy_of("step");
    let arguments = format!("{REPORT} --settings settings.yaml --nodes nodes.yaml -o report.html");
    folder.run(&arguments).printed(0, "");
    let report = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert_golden("report.html", &report);
    let names = |folder: &Folder| std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names(&folder), 5, "the report leaves nothing but itself");
    // The cluster as files has the same nodes.
    let cluster = folder.run(&format!("{REPORT} --settings settings.yaml --cluster nodes.yaml")).out;
    assert_eq!(cluster, report);
}

#[test]
fn without_settings_it_shows_what_volumes_lose() {
    let folder = Folder::new();
    folder.write("before.yaml", volume("data", "[a, b]")).write("after.yaml", volume("data", "[b]"));
    let out = folder.run(REPORT).out;
    for part in [
        "1 change, 1 refused",
        "<h2>PersistentVolume data</h2><span class=\"badge bad\">refused</span><span class=\"relation\">narrowed</span>",
        "<span class=\"key\">topology.kubernetes.io/zone</span>=a</span>",
        "Give the nodes with <code>--nodes</code>",
        "allow:\n  - widened\n  - narrowed",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    folder.write("after.yaml", volume("data", "[b, a]"));
    let out = folder.run(REPORT).out;
    assert!(
        out.contains("<span class=\"badge good\">accepted</span><span class=\"relation\">equivalent</span>"),
        "{out}"
    );
    folder.write("after.yaml", volume("data", "[a, b]"));
    assert!(folder.run(REPORT).out.contains("Nothing changes that the settings judge; 1 object stays as it is."));
}

/// The settings that a report offers.
fn offered(report: &str) -> Vec<String> {
    let after = report.split("<pre tabindex=\"0\">").skip(1);
    after.map(|rest| rest.split_once("</pre>").unwrap().0.to_owned()).collect()
}

#[test]
fn settings_that_are_offered_accept_the_change() {
    let folder = Folder::new();
    let region = volume("data", "[east]").replace("/zone", "/region");
    folder.write("before.yaml", volume("data", "[a]")).write("after.yaml", region);
    let in_region =
        |name, zone| node(name, zone).replace("labels: {", "labels: {topology.kubernetes.io/region: east, ");
    folder.write("nodes.yaml", list([in_region("one", "a"), in_region("two", "b")]));
    let choices = offered(&folder.run(&format!("{REPORT} --nodes nodes.yaml")).out);
    let ways = ["fromLiveNodes", "zones:", "implications:", "judgeBy: liveNodes", "allow:"];
    assert_eq!(choices.len(), ways.len(), "{choices:?}");
    for (choice, way) in choices.iter().zip(ways) {
        assert!(choice.contains(way), "{choice}");
        folder.write("settings.yaml", choice);
        let check = "check --settings settings.yaml --before before.yaml --after after.yaml --nodes nodes.yaml";
        assert_eq!(folder.run(check).code, Some(0), "{choice}");
    }
    // One of the nodes contradicts what would have to be stated.
    folder.write("nodes.yaml", list([node("one", "a"), in_region("two", "b")]));
    let choices = offered(&folder.run(&format!("{REPORT} --nodes nodes.yaml")).out);
    assert!(!choices.iter().any(|choice| choice.contains("implications")), "{choices:?}");
}

#[test]
fn the_nodes_of_some_volumes_are_drawn_and_of_the_others_counted() {
    let folder = Folder::new();
    let volumes = |zone: &str| -> String { (0..25).map(|at| volume(&format!("data-{at}"), zone) + "---\n").collect() };
    folder.write("before.yaml", volumes("[a]")).write("after.yaml", volumes("[a, b]"));
    folder.write("nodes.yaml", list([node("one", "a")]));
    let out = folder.run(&format!("{REPORT} --nodes nodes.yaml")).out;
    assert_eq!((out.matches("class=\"regions\"").count(), out.matches("class=\"legend\"").count()), (20, 25));
}

#[test]
fn names_do_not_leave_their_place() {
    let folder = Folder::new();
    folder.write("before.yaml", volume(ATTACK, "[a]")).write("after.yaml", volume(ATTACK, "[b]"));
    folder.write("nodes.yaml", list([node(ATTACK, "a"), node("b\u{202e}\u{0}", ATTACK)]));
    let ran = folder.run(&format!("{REPORT} --nodes nodes.yaml"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let tags = |tag: &str| ran.out.matches(tag).count();
    assert_eq!((tags("<script"), tags("<img"), tags("</style"), tags("alert(1)</")), (0, 0, 1, 0), "{}", ran.out);
    assert!(
        ran.out.contains("&lt;/style&gt;&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img")
    );
    assert!(ran.out.contains("b\u{fffd}\u{fffd}"));
    assert!(!ran.out.contains('\u{202e}'));
    // Every element that is opened is closed: the file is well-formed but for the few tags that HTML leaves open.
    let xml = ran.out.replacen("<!doctype html>", "", 1).replace("charset=\"utf-8\">", "charset=\"utf-8\"/>");
    let xml: String = xml.lines().fold(String::new(), |mut all, line| {
        let closed =
            if line.starts_with("<meta") { line.strip_suffix('>').map(|line| format!("{line}/>")) } else { None };
        writeln!(all, "{}", closed.filter(|_| !line.ends_with("/>")).as_deref().unwrap_or(line)).unwrap();
        all
    });
    roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
}

#[test]
fn many_nodes_are_counted_and_drawn_small() {
    let folder = Folder::new();
    folder
        .write("before.yaml", volume("data", "[zone-0, zone-1]"))
        .write("after.yaml", volume("data", "[zone-1, zone-2]"));
    folder.write("nodes.yaml", list((0..5000).map(|at| node(&format!("node-{at}"), &format!("zone-{}", at % 5)))));
    let out = folder.run(&format!("{REPORT} --nodes nodes.yaml")).out;
    for count in ["1,000</b> loses", "1,000</b> gains", "1,000</b> keeps", "2,000</b> never had"] {
        assert!(out.contains(count), "{count}");
    }
    assert!(!out.contains("node-4999"), "only some nodes are named");
    assert!(out.len() < 400_000, "{} bytes", out.len());
}

#[test]
fn what_cannot_be_read_is_complained_of() {
    let folder = Folder::new();
    folder.write("before.yaml", volume("data", "[a]")).write("after.yaml", volume("data", "[1]"));
    let out = folder.run(REPORT).out;
    assert!(out.contains("cannot be read") && out.contains("unreadable: object.spec.nodeAffinity.required"), "{out}");
    let complaint = "standard input: is named twice; give the other as a file";
    folder.run("report --before - --after -").complained(complaint);
    let ran = folder.run(&format!("{REPORT} -o missing/report.html"));
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("error: missing/report.html: cannot be written: "), "{}", ran.err);
}
