//! Which strings are values, and which values are numbers.

use super::*;

#[test]
fn a_prefix_of_a_name_is_a_lower_case_dns_subdomain() {
    let longest = format!("{}.{}", "a".repeat(200), "b".repeat(52));
    for valid in ["a", "A", "a/b", "a/B_c", "a-b.c-9/d", "0/0", &format!("{longest}/c")] {
        assert!(Domain::Name.contains(valid), "{valid}");
    }
    let invalid = [
        "",
        "/",
        "a/",
        "/b",
        "a/b/c",
        "-a/b",
        "a-/b",
        "a.-b/c",
        "a.b-/c",
        ".a/b",
        "a./b",
        "a..b/c",
        "A/b",
        "a_b/c",
        "aB/c",
        "aBc/d",
        "a/-b",
        "a/b-",
        "-a",
        "a-",
        "a/b c",
        &format!("{longest}b/c"),
        &format!("a/{}", "b".repeat(64)),
    ];
    for invalid in invalid {
        assert!(!Domain::Name.contains(invalid), "{invalid}");
    }
}

#[test]
fn only_digits_are_a_number() {
    for domain in [Domain::OptionalText, Domain::Text] {
        for text in ["", "+5", "-5", "5a", "a5", " 5", "5.0", "9223372036854775808"] {
            assert_eq!(domain.number(text), None, "{text}");
        }
        for (text, number) in [("0", 0), ("5", 5), ("50", 50), ("9223372036854775807", i64::MAX)] {
            assert_eq!(domain.number(text), Some(number), "{text}");
        }
    }
    for (text, number) in [("05", 5), ("00", 0)] {
        assert_eq!(Domain::OptionalText.number(text), Some(number), "{text}");
        assert_eq!(Domain::Text.number(text), None, "{text}");
    }
}
