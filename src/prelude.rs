//! The names that most programs need: `use actix_bully::prelude::*;`.
//!
//! Words that an application is likely to use itself (`Event`, `Group`, `Leader`, `Peer`, `Score`,
//! `Status`) are left to it: `use actix_bully::{Group, protocol::Event};` where they are needed.

pub use crate::{
    agent::{BullyAgent, BullyHandle, LeaderGuard, Notice, Subscribe},
    elections::bully::Preemption,
    group::Envelope,
    leader::{LeaderProxy, Singleton, SteppingDown},
    protocol::{AgentId, Timings},
    remote::{BridgeHandle, RemoteBridge},
    supervisor::RestartPolicy,
};
