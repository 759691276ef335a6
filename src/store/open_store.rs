//! The choice between opening a store and making one.

/// The choice between opening a store and making one.
///
/// To make a new store means to state that this node has never voted. A node that lost its file and makes a new store
/// has forgotten its votes. Its peers know the former store by its [id](crate::protocol::StoreId), and refuse another
/// store under its name in the same epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OpenStore {
    /// Opens the file, which must exist. Default.
    #[default]
    Open,
    /// Makes the file, which must not exist.
    Create,
    /// Opens the file, or makes it if it is missing. Not for a group with one voter: if its store is lost, no peer
    /// could refuse the new store.
    OpenOrCreate,
}
