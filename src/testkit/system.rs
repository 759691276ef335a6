//! A System whose time is virtual.
//!
//! Time passes only when no task can run, so an hour of elections takes a moment. The time begins at a whole
//! millisecond, so that two runs are the same. Keep all actors and tasks on the System's one thread: another arbiter, a
//! socket or a blocking task uses real time.

use actix_rt::{System, SystemRunner};
use tokio::runtime::Builder;

/// Returns a System whose clock is paused.
///
/// ```
/// use actix_bully::testkit::{cluster::Cluster, virtual_system};
///
/// virtual_system().block_on(async {
///     let mut cluster = Cluster::builder().agents(3).start()?;
///     cluster.settle().await?;
///     cluster.hang("agent-3").await?; // noticed after 900 ms, at once for you
///     assert_eq!(cluster.settle().await?.leader().unwrap(), "agent-2");
///     # Ok::<(), actix_bully::testkit::cluster::ClusterError>(())
/// }).unwrap();
/// ```
///
/// # Panics
/// If the operating system refuses a resource that every runtime needs.
pub fn virtual_system() -> SystemRunner {
    #[expect(clippy::expect_used, reason = "without a runtime there is no test")]
    System::with_tokio_rt(|| {
        Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime can be made")
    })
}

/// The System for the attribute of a test.
///
/// ```
/// #[actix_rt::test(system = "actix_bully::testkit::VirtualSystem")]
/// async fn the_next_one_leads() {
///     // a day passes in a moment
/// }
/// ```
#[derive(Debug)]
pub struct VirtualSystem;

impl VirtualSystem {
    /// Returns a [`virtual_system`]; the attribute calls this function.
    #[expect(
        clippy::new_ret_no_self,
        reason = "the attribute wants a System from a function of that name"
    )]
    pub fn new() -> SystemRunner {
        virtual_system()
    }
}
