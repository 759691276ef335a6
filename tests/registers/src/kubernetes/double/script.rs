//! The faults that a test plans for the next requests.

use super::status::KubeStatus;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KubeVerb {
    /// GET of one Lease.
    Get,
    /// GET of a list of Leases.
    List,
    /// GET of the changes of Leases.
    Watch,
    /// POST of a Lease.
    Create,
    /// PUT of a Lease.
    Update,
    /// DELETE of a Lease.
    Delete,
    /// GET of the server's version, the first request of a client.
    Version,
}

impl KubeVerb {
    /// All verbs.
    pub const ALL: [Self; 7] = [
        Self::Get,
        Self::List,
        Self::Watch,
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::Version,
    ];
    /// The verbs that change a Lease.
    pub const WRITES: [Self; 3] = [Self::Create, Self::Update, Self::Delete];
}

/// The fault of a request.
#[derive(Clone, Debug)]
pub enum KubeFault {
    /// No fault. It keeps a request free whose successor is to fail.
    Spared,
    /// The request is not applied, and the answer is this status.
    Status(KubeStatus),
    /// The request is not applied, and the answer has this code, type and text.
    Body(u16, &'static str, String),
    /// The request is applied, and the answer is this text instead of the Lease.
    Misanswered(String),
    /// The connection ends before the request is applied.
    ClosedBefore,
    /// The connection ends after the request was applied and before the answer.
    ClosedAfter,
    /// The request is applied, and the connection ends after half of the answer.
    HalfAnswered,
    /// The request waits for [`release`](super::KubeDouble::release). It is applied then, even if its client has
    /// gone.
    Held,
}

/// The planned faults that have not happened yet.
#[derive(Debug, Default)]
pub(super) struct FaultScript(Vec<PlannedFault>);

#[derive(Debug)]
struct PlannedFault {
    verbs: Vec<KubeVerb>,
    left: usize,
    fault: KubeFault,
}

impl FaultScript {
    pub(super) fn plan(&mut self, verbs: &[KubeVerb], left: usize, fault: KubeFault) {
        let verbs = verbs.to_vec();
        self.0.push(PlannedFault { verbs, left, fault });
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes the fault for the request that has just come, if one is planned.
    pub(super) fn next(&mut self, verb: KubeVerb) -> Option<KubeFault> {
        let planned = self.0.iter_mut();
        let mut fitting = planned.filter(|it| it.left > 0 && it.verbs.contains(&verb));
        let first = fitting.next()?;
        first.left -= 1;
        Some(first.fault.clone())
    }
}
