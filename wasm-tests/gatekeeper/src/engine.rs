//! Runs a template as Gatekeeper does, in an interpreter of Rego that is not Gatekeeper's.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::provider::{Reply, seen_by_rego};
use templates::{Rule, read};

/// A template, ready to be asked.
pub struct Template {
    engine: regorus::Engine,
    query: String,
}

/// What a template says of one request.
#[derive(Debug)]
pub struct Judged {
    /// The message and the details of each violation.
    pub violations: Vec<Value>,
    /// The keys that the provider was asked.
    pub keys: Vec<String>,
}

impl Judged {
    /// The message of the refusal, if it is one.
    pub fn message(&self) -> Option<&str> {
        self.violations.first().and_then(|violation| violation["msg"].as_str())
    }
}

impl Template {
    /// The template of a rule as it is committed.
    ///
    /// # Errors
    /// When the file is not a ConstraintTemplate, or its Rego does not compile.
    pub fn read(rule: &Rule) -> Result<Self, String> {
        let text = read(&format!("templates/{}.yaml", rule.file))?;
        let template: Value = serde_saphyr::from_str(&text).map_err(|error| error.to_string())?;
        let code = &template["spec"]["targets"][0]["code"][0];
        if code["engine"] != "Rego" || code["source"]["version"] != "v1" {
            return Err(format!("{}: not Rego v1", rule.file));
        }
        let mut engine = regorus::Engine::new();
        // As Gatekeeper: a function that fails makes its expression undefined.
        engine.set_strict_builtin_errors(false);
        let source = &code["source"];
        let modules = source["libs"].as_array().into_iter().flatten().chain([&source["rego"]]);
        let mut package = String::new();
        for (index, module) in modules.enumerate() {
            let module = module.as_str().ok_or("no Rego")?.to_owned();
            let path = format!("{}-{index}.rego", rule.file);
            package = engine.add_policy(path, module).map_err(|error| error.to_string())?;
        }
        Ok(Template { engine, query: format!("{package}.violation") })
    }

    /// Puts a review to the template, with the parameters of a constraint.
    ///
    /// # Errors
    /// When the evaluation itself fails, which Gatekeeper takes for a violation.
    pub fn judge(
        &self,
        review: &Value,
        parameters: &Value,
        provider: impl Fn(&str) -> Reply + Clone + Send + Sync + 'static,
    ) -> Result<Judged, String> {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let external_data = move |arguments: Vec<regorus::Value>| {
            let question: Value = serde_json::to_value(&arguments[0])?;
            anyhow::ensure!(question["provider"] == "placement-guard", "another provider: {question}");
            // A key that is not a string makes the function fail.
            let Some([Value::String(key)]) = question["keys"].as_array().map(Vec::as_slice) else {
                return Ok(regorus::Value::Undefined);
            };
            let mut asked = seen.lock().map_err(|_| anyhow::anyhow!("a lock"))?;
            // Gatekeeper remembers an answer within one evaluation.
            if !asked.contains(key) {
                asked.push(key.clone());
            }
            match seen_by_rego(&provider(key)) {
                Some(answer) => Ok(serde_json::from_value(answer)?),
                None => Ok(regorus::Value::Undefined),
            }
        };
        let mut engine = self.engine.clone();
        let failed = |error: anyhow::Error| format!("{error:#}");
        engine.add_extension(String::from("external_data"), 1, Box::new(external_data)).map_err(failed)?;
        let input = json!({"review": review, "parameters": parameters});
        engine.set_input(serde_json::from_value(input).map_err(|error| error.to_string())?);
        let violations = engine.eval_rule(self.query.clone()).map_err(failed)?;
        let violations = serde_json::to_value(violations).map_err(|error| error.to_string())?;
        let violations = violations.as_array().cloned().ok_or_else(|| format!("no set: {violations}"))?;
        drop(engine);
        let keys = asked.lock().map(|keys| keys.clone()).unwrap_or_default();
        Ok(Judged { violations, keys })
    }
}
