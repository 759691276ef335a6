//! The names that most programs need: `use actix_bully::prelude::*;`.

pub use crate::{
    Group,
    agent::{BullyAgent, BullyHandle, LeaderGuard, Notice, Status, Subscribe},
    elections::bully::Preemption,
    protocol::{AgentId, Event, Leader, Score, Timings},
    remote::{BridgeHandle, Peer, RemoteBridge},
    supervisor::RestartPolicy,
};
