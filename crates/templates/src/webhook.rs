//! The configuration of the plain webhook: its rules and conditions are those of the policy of all rules for Kubewarden.

use crate::repository;

const WEBHOOK: &str = "policies/webhook/webhook.yaml";
const POLICY: &str = "policies/kubewarden/all-rules.yaml";

/// The whole file: what is written by hand up to the rules, and then rules and conditions as the policy has them.
///
/// # Errors
/// When one of the two files cannot be read, or has no rules or conditions.
pub fn text() -> Result<String, String> {
    let (webhook, policy) = (read(WEBHOOK)?, read(POLICY)?);
    let (by_hand, _) = webhook.split_once("    rules:\n").ok_or_else(|| format!("{WEBHOOK}: no rules"))?;
    let rules = block(&policy, "  rules:")?;
    let conditions = block(&policy, "  matchConditions:")?;
    Ok(format!(
        "{by_hand}{rules}    # The API server sends only requests that can change the answer. `make bless` copies rules and conditions from\n    \
         # the policy of all rules for Kubewarden.\n{conditions}"
    ))
}

fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(repository().join(path)).map_err(|error| format!("{path}: {error}"))
}

/// A member of the policy's spec, two spaces further in.
fn block(policy: &str, member: &str) -> Result<String, String> {
    let mut lines = policy.lines().skip_while(|line| *line != member);
    let first = lines.next().ok_or_else(|| format!("{POLICY}: no line `{member}`"))?;
    let rest = lines.take_while(|line| line.starts_with("    "));
    Ok(std::iter::once(first).chain(rest).map(|line| format!("  {line}\n")).collect())
}
