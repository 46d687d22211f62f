//! Prints every section of every case as the templates judge it here, for Gatekeeper's own interpreter of Rego to be held
//! against: a JSON array.

use gatekeeper_tests::engine::Template;
use gatekeeper_tests::provider::{Reply, body, judged};
use gatekeeper_tests::review;
use serde_json::{Value, json};
use templates::RULES;

fn main() -> Result<(), String> {
    let mut printed = Vec::new();
    let cases = testkit::cases()?;
    for rule in RULES {
        let template = Template::read(&rule)?;
        for case in &cases {
            let Some(request) = case.request() else { continue };
            let settings: Value = serde_json::from_slice(&case.settings()).map_err(|error| error.to_string())?;
            let Some(parameters) = settings.get(rule.section).filter(|section| section.is_object()) else { continue };
            let host = case.host();
            let of_cluster = host.clone();
            let library =
                move |key: &str| Reply::Http(200, body(&[json!({"key": key, "value": judged(&of_cluster, key)})]));
            let judgement = template.judge(&review::at_admission(request), parameters, library)?;
            let key = judgement.keys.first();
            printed.push(json!({
                "case": case.name,
                "kind": rule.kind,
                "parameters": parameters,
                "request": request,
                "key": key,
                "value": key.map(|key| judged(&host, key)),
                "message": judgement.message(),
            }));
        }
    }
    println!("{}", Value::from(printed));
    Ok(())
}
