//! Warns before this side's certificate expires, while there is time to renew it.
//!
//! Decided here: how often the certificate is checked. [`Security`](crate::remote::transport::Security) decides how
//! long before the end the warnings begin, and uses renewed files first.

use std::{sync::Arc, time::Duration};

use actix::{AsyncContext, Context, fut::wrap_future};
use tracing::warn;

use crate::{
    clock::WallTime,
    remote::{BridgeEvent, RemoteBridge, bridge::shared::BridgeState},
};

/// Checks the certificate now, and then each hour. Warns if it expires soon.
pub(crate) fn watch(shared: Arc<BridgeState>, ctx: &mut Context<RemoteBridge>) {
    let Some(security) = shared.security.clone() else {
        return;
    };
    let state = Arc::clone(&shared);
    let check = async move {
        if let Some(at) = security.expires_soon().await {
            let expires = WallTime::from(at);
            warn!(node = %state.me.node, %expires, "this node's certificate expires soon: renew it");
            state.events.tell(BridgeEvent::Expires { at });
        }
    };
    ctx.spawn(wrap_future(check));
    // This timer does not wait for the check, because a disk that hangs must not end the warnings.
    ctx.run_later(HOUR, |_, ctx| watch(shared, ctx));
}

const HOUR: Duration = Duration::from_secs(60 * 60);
