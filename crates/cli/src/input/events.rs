//! YAML as events. This is the one place that calls libyaml: `libyaml-rs` is its C translated to Rust, and wants pointers.

#![expect(unsafe_code, reason = "libyaml-rs is called as C is")]

use std::ffi::CStr;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use libyaml_rs::{
    YAML_ALIAS_EVENT, YAML_DOCUMENT_END_EVENT, YAML_MAPPING_END_EVENT, YAML_MAPPING_START_EVENT, YAML_NO_EVENT,
    YAML_SCALAR_EVENT, YAML_SEQUENCE_END_EVENT, YAML_SEQUENCE_START_EVENT, YAML_STREAM_END_EVENT, yaml_event_delete,
    yaml_event_t, yaml_mark_t, yaml_parser_delete, yaml_parser_initialize, yaml_parser_parse,
    yaml_parser_set_input_string, yaml_parser_t,
};

use super::written::{Place, Problem};

/// A part of a YAML text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub kind: Kind,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `plain` is without quotes, not a block, and without a tag.
    Scalar {
        anchor: Option<String>,
        tag: Option<String>,
        text: String,
        plain: bool,
    },
    Alias(String),
    List {
        anchor: Option<String>,
    },
    Mapping {
        anchor: Option<String>,
    },
    /// Of a list or a mapping.
    End,
    DocumentEnd,
    StreamEnd,
    Other,
}

/// Reads a text.
pub struct Parser<'t> {
    // The library keeps pointers into it, so it must not move.
    parser: Box<MaybeUninit<yaml_parser_t>>,
    text: PhantomData<&'t str>,
    failed: bool,
}

impl<'t> Parser<'t> {
    pub fn new(text: &'t str) -> Self {
        let mut parser = Box::new(MaybeUninit::uninit());
        // SAFETY: the first call makes a parser of the memory, and fails only where there is no memory. The second stores
        // a pointer to the text, which lives for `'t`, as long as the parser.
        unsafe {
            let failed = yaml_parser_initialize(parser.as_mut_ptr()).fail;
            if !failed {
                yaml_parser_set_input_string(parser.as_mut_ptr(), text.as_ptr(), text.len() as u64);
            }
            Parser { parser, text: PhantomData, failed }
        }
    }

    /// The next event; after the end of the stream, its end again.
    ///
    /// # Errors
    /// What is wrong with the text, and where. Afterwards there is only the end of the stream.
    pub fn next(&mut self) -> Result<Event, Problem> {
        if self.failed {
            return Ok(Event { kind: Kind::StreamEnd, place: Place { line: 1, column: 1 } });
        }
        let mut event = MaybeUninit::<yaml_event_t>::uninit();
        // SAFETY: the parser was initialized. A successful call initializes the event, which is copied and deleted once.
        unsafe {
            if yaml_parser_parse(self.parser.as_mut_ptr(), event.as_mut_ptr()).fail {
                self.failed = true;
                return Err(problem(self.parser.assume_init_ref()));
            }
            let taken = take(event.assume_init_ref());
            yaml_event_delete(event.as_mut_ptr());
            Ok(taken)
        }
    }
}

impl Drop for Parser<'_> {
    fn drop(&mut self) {
        // SAFETY: the parser was initialized, and is used no more.
        unsafe { yaml_parser_delete(self.parser.as_mut_ptr()) }
    }
}

fn place(mark: yaml_mark_t) -> Place {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_add(1);
    Place { line: number(mark.line), column: number(mark.column) }
}

/// # Safety
/// The call to the parser failed.
unsafe fn problem(parser: &yaml_parser_t) -> Problem {
    // SAFETY: the library sets these to strings of its own, or to null.
    let (said, context) = unsafe { (string(parser.problem.cast()), string(parser.context.cast())) };
    let said = match (said, context) {
        (Some(said), Some(context)) => format!("{said} {context}"),
        (said, context) => said.or(context).unwrap_or_else(|| String::from("it is too large")),
    };
    Problem { place: Some(place(parser.problem_mark)), said }
}

/// # Safety
/// The library filled the event.
unsafe fn take(event: &yaml_event_t) -> Event {
    // SAFETY: the type says which member of the union is there, and strings end with a zero.
    let kind = unsafe {
        match event.type_ {
            YAML_SCALAR_EVENT => {
                let scalar = event.data.scalar;
                let length = usize::try_from(scalar.length).unwrap_or_default();
                let bytes = std::slice::from_raw_parts(scalar.value, length);
                Kind::Scalar {
                    anchor: string(scalar.anchor),
                    tag: string(scalar.tag),
                    text: String::from_utf8_lossy(bytes).into_owned(),
                    plain: scalar.plain_implicit,
                }
            }
            YAML_ALIAS_EVENT => Kind::Alias(string(event.data.alias.anchor).unwrap_or_default()),
            YAML_SEQUENCE_START_EVENT => Kind::List { anchor: string(event.data.sequence_start.anchor) },
            YAML_MAPPING_START_EVENT => Kind::Mapping { anchor: string(event.data.mapping_start.anchor) },
            YAML_SEQUENCE_END_EVENT | YAML_MAPPING_END_EVENT => Kind::End,
            YAML_DOCUMENT_END_EVENT => Kind::DocumentEnd,
            YAML_STREAM_END_EVENT | YAML_NO_EVENT => Kind::StreamEnd,
            _ => Kind::Other,
        }
    };
    Event { kind, place: place(event.start_mark) }
}

/// # Safety
/// The pointer is null, or points to a string that ends with a zero.
unsafe fn string(pointer: *const u8) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: as said.
    let text = unsafe { CStr::from_ptr(pointer.cast()) };
    Some(text.to_string_lossy().into_owned())
}
