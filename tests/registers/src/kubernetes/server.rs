//! The real API server, over Debian's etcd.
