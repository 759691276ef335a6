//! Whether a store is opened or made.

/// Whether a store is opened or made.
///
/// To make a store says that this node has never voted. A node that lost its file and makes a new one has forgotten
/// its votes: its peers know the store by its [id](crate::protocol::StoreId), and refuse another one under its name in
/// the same epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OpenStore {
    /// The file is there. Default.
    #[default]
    Open,
    /// The file is not there, and is made.
    Create,
    /// The file is opened, and made if it is missing. Not with one voter: no peer could refuse its new store after the
    /// old one was lost.
    OpenOrCreate,
}
