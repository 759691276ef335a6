//! Takes connections in, and keeps out those that there is no room for.

use std::{convert::Infallible, future::pending, pin::pin, sync::Arc};

use actix::{Addr, clock::sleep};
use futures::future::{OptionFuture, select};
use tokio::task::yield_now;
use tracing::debug;

use crate::remote::{
    BridgeEvent, Closed, RemoteBridge,
    bridge::{ends, message::Accepted, shared::BridgeState, task::TaskGuard},
    refusals::Refusals,
    transport::{IncomingStream, Listener},
};

/// Takes connections in, for as long as the bridge looks after them.
pub(crate) async fn accept(shared: Arc<BridgeState>, bridge: Addr<RemoteBridge>) {
    let keeping = ends::keep(Arc::clone(&shared), bridge.clone());
    let mut listening = shared.listen().await;
    let Some(listener) = listening.get() else {
        return keeping.await;
    };
    let _keeping = TaskGuard::spawn(keeping);
    let at = listener.local_addr();
    shared.events.tell(BridgeEvent::Listening { at });
    let hearing = at.map(|at| ends::hear(Arc::clone(&shared), at));
    let hearing = async {
        OptionFuture::from(hearing).await;
        pending::<()>().await;
    };
    // One task for both: with it nothing holds the port any more.
    let taking = take_all(&shared, &bridge, &mut **listener);
    select(pin!(taking), pin!(hearing)).await;
}

async fn take_all(
    shared: &BridgeState,
    bridge: &Addr<RemoteBridge>,
    listener: &mut dyn Listener,
) -> Infallible {
    let mut refusals = Refusals::default();
    loop {
        match listener.accept().await {
            Ok(arrival) => {
                refusals.end();
                admit(shared, bridge, arrival);
                // A connection that was let in gets a turn before the next one: in a storm, one that has
                // something to say would lose its slot before it was heard.
                yield_now().await;
            }
            Err(reason) => {
                debug!(%reason, "connection not accepted");
                match refusals.pause_after(&reason) {
                    Some(pause) => sleep(pause).await,
                    // A storm of such connections leaves the bridge its turns.
                    None => yield_now().await,
                }
            }
        }
    }
}

fn admit(shared: &BridgeState, bridge: &Addr<RemoteBridge>, arrival: IncomingStream) {
    match shared.gate.enter(&arrival.from) {
        // do_send: one for each connection, and there are no more than the gate lets in.
        Some(pass) => bridge.do_send(Accepted(arrival, pass)),
        None => shared.ended(None, &arrival.from, Closed::TooManyConnections),
    }
}
