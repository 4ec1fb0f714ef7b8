//! A new model file takes the place of the old one while requests go on.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::Causes;
use crate::served::{Identity, Served};
use crate::state::Server;

/// How often the file is looked at.
const EVERY: Duration = Duration::from_secs(1);

impl Server {
    /// Looks at the model's file for ever, and takes over what is new in it. A file that cannot be used changes nothing.
    pub async fn watch(self: Arc<Self>) {
        let mut refused = None;
        loop {
            tokio::time::sleep(EVERY).await;
            self.let_go_elsewhere().await;
            // A file that is being replaced is there in a moment.
            let Ok(found) = Identity::of(&self.path) else { continue };
            if Some(&found) == self.current().identity.as_ref() || refused.as_ref() == Some(&found) {
                continue;
            }
            let _changing = self.changing.lock().await;
            let server = Arc::clone(&self);
            let opened = tokio::task::spawn_blocking(move || server.reload()).await;
            refused = if opened.unwrap_or(false) { None } else { Some(found) };
        }
    }

    async fn let_go_elsewhere(self: &Arc<Self>) {
        if !self.retired().is_empty() {
            let server = Arc::clone(self);
            let _ = tokio::task::spawn_blocking(move || server.let_go()).await;
        }
    }

    /// Opens the model's file once more; says whether its model is served now. The caller holds `changing`.
    fn reload(&self) -> bool {
        match self.changes.install(|| Served::open(&self.path)) {
            Ok(served) => {
                tracing::info!(
                    fingerprint = served.fingerprint,
                    nodes = served.model.summary().nodes,
                    "a new model is served"
                );
                self.replace(served);
                true
            }
            Err(error) => {
                self.metrics.count_reload(false);
                tracing::warn!(
                    error = %Causes(&error),
                    "the new model file cannot be used; the old one stays"
                );
                false
            }
        }
    }

    /// What the file holds now; none where that cannot be used. The caller holds `changing`.
    pub(crate) fn newest(&self) -> Option<Arc<Served>> {
        let is_served = Identity::of(&self.path).is_ok_and(|found| Some(found) == self.current().identity);
        (is_served || self.reload()).then(|| self.current())
    }

    /// From now on requests see this model; those that have begun keep theirs.
    pub(crate) fn replace(&self, served: Served) {
        self.metrics.count_reload(true);
        let old = self.current.swap(Arc::new(served));
        self.retired().push(old);
    }

    /// Lets go of models that nobody asks any more. That takes a while, and no request should have to do it.
    pub(crate) fn let_go(&self) {
        let unused = self.retired().extract_if(.., |served| Arc::strong_count(served) == 1).collect::<Vec<_>>();
        drop(unused);
    }

    fn retired(&self) -> MutexGuard<'_, Vec<Arc<Served>>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
