//! Keeps what a stripped module would not say: the features of WebAssembly that it was built for. wasm-bindgen asks.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=--keep-section=target_features");
    }
}
