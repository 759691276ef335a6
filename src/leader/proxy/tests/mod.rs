//! The machines of a proxy, without a runtime.

mod history;
mod receiver;
mod sender;
mod world;
