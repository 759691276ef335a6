//! The names that most programs need: `use actix_bully::prelude::*;`.
//!
//! The prelude leaves out names that an application is likely to use itself (`Event`, `Group`, `Leader`, `Peer`,
//! `Score`, `Status`). Import them where they are needed: `use actix_bully::{Group, protocol::Event};`.

pub use crate::{
    agent::{BullyAgent, BullyHandle, LeaderGuard, Notice, Subscribe},
    elections::bully::Preemption,
    group::Envelope,
    leader::{LeaderProxy, Singleton, SteppingDown},
    protocol::{AgentId, Timings},
    remote::{BridgeHandle, RemoteBridge},
    supervisor::RestartPolicy,
};
