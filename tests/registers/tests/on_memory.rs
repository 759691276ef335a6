//! The register in memory passes the suite: what it promises is what the others are held to.

use std::sync::Arc;

use actix_bully::register::{MemoryRegister, Register};
use actix_bully_register_tests::conforms;

#[test]
fn it_conforms() {
    let register = MemoryRegister::new();
    conforms("memory", &|| Arc::new(register.clone()));
}

#[test]
fn two_of_them_are_two_stores() {
    let (one, other) = (MemoryRegister::new(), MemoryRegister::new());
    assert_ne!(one.name(), other.name());
    assert_eq!(one.name(), one.clone().name());
}
