//! Nothing: what counts are the dependencies in the manifest.
