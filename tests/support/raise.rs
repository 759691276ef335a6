//! The third step of a move from a lease to a quorum, in the words of its page (`src/elections/moving.md`).

use actix_bully::{
    elections::quorum::Vote,
    protocol::Term,
    store::{StoreError, TermStore},
};

/// Raises the record of a voter to the highest token that the fence has seen.
pub(crate) async fn raise(store: &impl TermStore<Vote>, token: Term) -> Result<(), StoreError> {
    let by = store.begin()?;
    let vote = store.load()?.unwrap_or_default();
    if vote.term >= token {
        return Ok(());
    }
    let raised = Vote {
        term: token,
        voted_for: None,
        ..vote
    };
    store.save(by, raised).await
}
