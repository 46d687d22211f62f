use super::*;

const NODE: Fields = Fields(&[("metadata", Fields(&[("name", WHOLE), ("labels", WHOLE)]))]);
const POD: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE)])),
    ("spec", Fields(&[("volumes", Fields(&[("claim", Fields(&[("claimName", WHOLE)]))]))])),
]);

fn items(text: &str, fields: Fields) -> Result<Vec<String>, Unreadable> {
    let mut seen = Vec::new();
    read_items(text.as_bytes(), fields, &mut |item| {
        let metadata = item.get("metadata")?;
        let mut text = metadata.string_of("name")?.unwrap_or_default().to_owned();
        assert!(!metadata.get("uid")?.is_present());
        for volume in item.get("spec")?.get("volumes")?.items()? {
            assert!(!volume.get("name")?.is_present());
            text.push_str(volume.get("claim")?.string_of("claimName")?.unwrap_or("-"));
        }
        seen.push(text);
        Ok(())
    })?;
    Ok(seen)
}

#[test]
fn only_the_named_fields_are_kept_also_within_lists() {
    let text = r#"{"kind":"PodList","items":[
        {"metadata":{"uid":"1","name":"a"},"spec":{"volumes":[{"name":"x","claim":{"claimName":"c","readOnly":true}},{},
         {"claim":null}]}}, {"metadata":{"name":"b"}}],"metadata":{}}"#;
    assert_eq!(items(text, POD).unwrap(), ["ac--", "b"]);
    assert_eq!(items(r#"{"items":[]}"#, NODE).unwrap(), Vec::<String>::new());
}

#[test]
fn half_an_answer_is_no_answer() {
    let complaints = [
        r#"{"items":[{"metadata":{"name":"a"}}"#,
        r#"{"items":[{"metadata":{"name":"a"}}]} x"#,
        r#"{"items":null}"#,
        r#"{"items":{}}"#,
        r#"{"items":[],"items":[]}"#,
        r#"[]"#,
        "",
    ];
    for text in complaints {
        assert_eq!(items(text, NODE).unwrap_err().to_string(), "answer: is not the JSON that was asked for", "{text}");
    }
    assert_eq!(items("{}", NODE).unwrap_err().to_string(), "items: is missing");
    assert_eq!(
        items(r#"{"items":[{"metadata":{"name":7}}]}"#, NODE).unwrap_err().to_string(),
        "item.metadata.name: must be a string, but is a number: `7`; write it in quotes"
    );
    // What is neither an object nor a list is not read as absent.
    for wrong in ["0.5", "-1", "1", "true", "\"a\""] {
        let unreadable = items(&format!(r#"{{"items":[{{"metadata":{wrong}}}]}}"#), NODE).unwrap_err();
        assert_eq!(unreadable.path, "item.metadata", "{wrong}");
    }
    assert!(items(r#"{"items":[7]}"#, NODE).is_err() && items(r#"{"items":[[]]}"#, NODE).is_err());
}

#[test]
fn a_name_that_is_written_with_an_escape_is_the_same_name() {
    assert_eq!(items(r#"{"it\u0065ms":[{"metad\u0061ta":{"name":"\u0061"}}]}"#, NODE).unwrap(), ["a"]);
}

#[test]
fn masks_are_paths() {
    assert_eq!(NODE.masks(), ["metadata.name", "metadata.labels"]);
    assert_eq!(POD.masks(), ["metadata.name", "spec.volumes.claim.claimName"]);
}
