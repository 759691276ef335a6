//! Warns before this side's certificate expires, while there is time to renew it.
//!
//! Decided here: how often the certificate is checked. [`Security`](crate::remote::transport::Security) decides how
//! long before the end the warnings begin.

use std::{sync::Arc, time::Duration};

use actix::{AsyncContext, Context};
use tracing::warn;

use crate::remote::{BridgeEvent, RemoteBridge, bridge::shared::BridgeState};

/// Warns now, and then each hour, if the certificate expires soon.
pub(crate) fn watch(shared: Arc<BridgeState>, ctx: &mut Context<RemoteBridge>) {
    let Some(security) = &shared.security else {
        return;
    };
    if let Some(at) = security.expires_soon() {
        warn!(node = %shared.me.node, "this node's certificate expires soon: renew it");
        shared.events.tell(BridgeEvent::Expires { at });
    }
    ctx.run_later(HOUR, |_, ctx| watch(shared, ctx));
}

const HOUR: Duration = Duration::from_secs(60 * 60);
