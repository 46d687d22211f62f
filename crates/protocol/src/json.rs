//! Bodies and keys as JSON objects.

use serde::Deserialize;

/// Reads an object. A list is refused: serde would read one as the members of a struct, in their order.
///
/// # Errors
/// Where the text stops being an object of this form: the end of a sentence such as `the body is not a ProviderRequest`.
pub fn object<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, String> {
    let begin = text.trim_ascii_start();
    if !begin.is_empty() && !begin.starts_with('{') {
        return Err(String::from("it must be a JSON object"));
    }
    serde_json::from_str(text).map_err(|error| format!("line {}, column {}", error.line(), error.column()))
}
