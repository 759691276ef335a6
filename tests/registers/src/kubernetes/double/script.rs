//! A test's plan for the next requests.

use super::status::KubeStatus;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KubeVerb {
    /// GET of a Lease.
    Get,
    /// GET of several.
    List,
    /// GET of what changes.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// DELETE.
    Delete,
    /// Of the server's version, with which a client begins.
    Version,
}

impl KubeVerb {
    /// Each of them.
    pub const ALL: [Self; 7] = [
        Self::Get,
        Self::List,
        Self::Watch,
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::Version,
    ];
    /// Those that change something.
    pub const WRITES: [Self; 3] = [Self::Create, Self::Update, Self::Delete];
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub enum KubeFault {
    /// None: another one is for the request after it.
    Spared,
    /// It is not applied, and answered so.
    Status(KubeStatus),
    /// It is not applied, and answered with this code, type and text.
    Body(u16, &'static str, String),
    /// It is applied, and answered with this text instead.
    Misanswered(String),
    /// The connection ends before it is applied.
    ClosedBefore,
    /// The connection ends after it was applied, before the answer.
    ClosedAfter,
    /// It is applied, and half of the answer is sent.
    HalfAnswered,
    /// It is not answered before [`release`](super::KubeDouble::release), and applied then, also if its client has gone
    /// any more.
    Held,
}

/// The faults that are still to come.
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

    /// The fault of the request that has just come.
    pub(super) fn next(&mut self, verb: KubeVerb) -> Option<KubeFault> {
        let planned = self.0.iter_mut();
        let mut fitting = planned.filter(|it| it.left > 0 && it.verbs.contains(&verb));
        let first = fitting.next()?;
        first.left -= 1;
        Some(first.fault.clone())
    }
}
