//! The server as a process: its threads, and the signals that end it.

use std::sync::Arc;

use host::Module;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::Config;
use crate::error::CannotServe;
use crate::server::Server;

/// Serves until SIGTERM, SIGINT, SIGHUP or SIGQUIT, and then drains. True when every request was answered in time.
///
/// SIGHUP does not reload: certificates are read again when they change, and everything else is for a new process.
///
/// # Errors
/// What keeps it from starting.
pub fn serve(config: Config, module: Arc<Module>) -> Result<bool, CannotServe> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let drained = runtime.block_on(async {
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let (mut hang_up, mut quit) = (signal(SignalKind::hangup())?, signal(SignalKind::quit())?);
        let server = Server::bind(config, module).await?;
        let told = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = hang_up.recv() => {}
                _ = quit.recv() => {}
            }
        };
        Ok(server.run(told).await)
    });
    // No request waits any more for evaluations that still run.
    runtime.shutdown_background();
    drained
}
