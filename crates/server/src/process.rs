//! The server as a process: threads, and the signals that end it.

use std::sync::Arc;

use host::Module;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::Config;
use crate::server::{CannotServe, Server};

/// Serves until SIGTERM or SIGINT, and then drains. True when every request was answered in time.
///
/// # Errors
/// What keeps it from starting.
pub fn serve(config: Config, module: Arc<Module>) -> Result<bool, CannotServe> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let drained = runtime.block_on(async {
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let server = Server::bind(config, module).await?;
        let told = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        Ok(server.run(told).await)
    });
    // Evaluations that still run are nobody's any more.
    runtime.shutdown_background();
    drained
}
