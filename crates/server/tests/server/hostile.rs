//! Modules that misbehave when they are told to: `settings` is a string whose first letter says how.

use std::sync::Arc;

use host::{Host, Limits, Memory, Module};

/// Runs for ever.
pub const LOOPS: &str = "loop";
/// Allocates memory until none is left, and then traps, as Rust programs do.
pub const EATS: &str = "eat";
/// Hands its host a range that lies outside its memory.
pub const LIES: &str = "out of range";
/// Answers with something that is not a decision.
pub const BABBLES: &str = "babble";
/// Accepts, like everything else that is not named here.
pub const ACCEPTS: &str = "accept";

/// The message begins `{"settings":"`, so the letter is its fourteenth byte.
const WAT: &str = r#"(module
  (import "wapc" "__guest_request" (func $request (param i32 i32)))
  (import "wapc" "__guest_response" (func $response (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 16) "{\"accepted\":true,\"valid\":true}")
  (func (export "__guest_call") (param $operation i32) (param $message i32) (result i32)
    (local $letter i32)
    (call $request (i32.const 1024) (i32.const 2048))
    (local.set $letter (i32.load8_u (i32.const 2061)))
    (if (i32.eq (local.get $letter) (i32.const 108)) (then (loop $for_ever (br $for_ever))))
    (if (i32.eq (local.get $letter) (i32.const 101)) (then
      (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
      unreachable))
    (if (i32.eq (local.get $letter) (i32.const 111)) (then (call $response (i32.const 2000000000) (i32.const 9))))
    (if (i32.eq (local.get $letter) (i32.const 98)) (then (call $response (i32.const 17) (i32.const 9)) (return (i32.const 1))))
    (call $response (i32.const 16) (i32.const 30))
    (i32.const 1)))"#;

/// Such a module, whose evaluations may take so many seconds.
pub fn module(seconds: u64) -> Arc<Module> {
    let limits = Limits { memory: Memory::AtMost { bytes: 8 << 20, instances: 8 }, seconds };
    let wasm = wat::parse_str(WAT).unwrap();
    Arc::new(Host::new(limits).unwrap().compile("hostile", &wasm).unwrap_or_else(|error| panic!("{error}")))
}

/// A key that makes it misbehave; `salt` makes it another key.
pub fn key(behaviour: &str, salt: usize) -> String {
    format!(r#"{{"v":1,"settings":"{behaviour}","request":{{"salt":{salt}}}}}"#)
}
