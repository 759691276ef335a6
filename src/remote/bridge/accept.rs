//! Accepts connections, and refuses them when the gate is full.

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

/// Accepts connections while the bridge runs.
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
    // One task both listens and hears notices, so the port is free when that task ends.
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
                // An accepted connection gets a turn before the next connection is accepted. Without this turn, in a
                // storm of connections, a connection would lose its slot before the bytes that it has sent are read.
                yield_now().await;
            }
            Err(reason) => {
                debug!(%reason, "connection not accepted");
                match refusals.pause_after(&reason) {
                    Some(pause) => sleep(pause).await,
                    // If many connections fail one after the other, the other tasks of the bridge still run.
                    None => yield_now().await,
                }
            }
        }
    }
}

fn admit(shared: &BridgeState, bridge: &Addr<RemoteBridge>, arrival: IncomingStream) {
    match shared.gate.enter(&arrival.from) {
        // do_send: at most one message for each connection that the gate admits, so the gate limits their number.
        Some(pass) => bridge.do_send(Accepted(arrival, pass)),
        None => {
            shared.ended(None, &arrival.from, Closed::TooManyConnections, Vec::new());
        }
    }
}
