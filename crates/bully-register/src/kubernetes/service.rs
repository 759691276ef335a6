//! A Service that leads to the leader.
//!
//! ```text
//!   Service without a selector ──▶ one EndpointSlice of its name ──▶ the address of the leader
//!                                        ▲ replaced by compare-and-swap; holds the term of who wrote it
//! ```
//!
//! Decided here: a leader never replaces the address of a later leader, even if its request arrives late; a leader that
//! leads again with another address may replace its own address. A label on the leader's pod, the usual other way,
//! would need the right to change every pod, and would stay on a pod whose container was killed and restarted.

use std::{collections::BTreeMap, net::IpAddr};

use k8s_openapi::api::discovery::v1::{Endpoint, EndpointConditions, EndpointPort, EndpointSlice};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Api, api::PostParams};
use tokio::{task::spawn_blocking, time::timeout};

use super::{
    account::KubeAccount,
    failure::{self, KubeAnswer},
};
use crate::{
    RegisterError, RegisterRefusal,
    connection::{ANSWER, Meaning},
};

/// A Service of Kubernetes that leads to the leader of an election; made by
/// [`KubernetesBuilder::service`](super::KubernetesBuilder::service).
///
/// The Service itself has no selector, and is applied with the rest of the deployment. The leader writes one
/// `EndpointSlice` with the name of the Service. The account needs the verbs `get`, `create` and `update` on
/// `endpointslices` of the group `discovery.k8s.io`; `get` and `update` can be limited to the name of the Service.
///
/// During an election, and until the proxies of the cluster have received the change, the Service still leads to the
/// former leader, which refuses the requests by its guard.
///
/// ```no_run
/// # async fn example(term: u64) -> Result<(), Box<dyn std::error::Error>> {
/// # use bully_register::KubernetesRegister;
/// let service = KubernetesRegister::builder().service("jobs-leader").port("http", 8080);
/// // In the leader's work, with the term of its guard; the pod gets its address by the downward API.
/// let address = std::env::var("POD_IP")?.parse()?;
/// let is_written = service.lead_to(address, term).await?;
/// # let _ = is_written;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "it does nothing until the leader writes it"]
pub struct KubernetesService {
    account: KubeAccount,
    name: String,
    ports: Vec<(String, u16)>,
}

impl KubernetesService {
    pub(super) fn new(account: KubeAccount, name: &str) -> Self {
        Self {
            account,
            name: name.to_owned(),
            ports: Vec::new(),
        }
    }

    /// Adds a port: its name in the Service, and the TCP port at which the pods serve it.
    pub fn port(mut self, name: &str, port: u16) -> Self {
        self.ports.push((name.to_owned(), port));
        self
    }

    /// Makes the Service lead to the address `address`, for the leader of the term `term`. The term has to be a fence:
    /// of a lease, or of voters with disks. In the available mode terms may begin at 1 again, and the Service would
    /// stay with an earlier leader. Returns `false`, and changes nothing, if a later leader has written the slice.
    ///
    /// # Errors
    /// [`RegisterError`]. If the outcome [is unknown](RegisterError::is_unknown), the Service may lead to the address:
    /// call it again. [`RegisterError::Refused`] for an `EndpointSlice` of the Service's name that another program
    /// keeps.
    pub async fn lead_to(&self, address: IpAddr, term: u64) -> Result<bool, RegisterError> {
        let account = self.account.clone();
        let client = spawn_blocking(move || account.client()).await;
        let client = client.map_err(|lost| Meaning::NotDone.error(lost.to_string()))??;
        let api: Api<EndpointSlice> = Api::default_namespaced(client);
        for _ in 0..MOST_ATTEMPTS {
            let found = match within(false, api.get(&self.name)).await {
                Ok(found) => Some(found),
                Err(KubeAnswer::Absent) => None,
                Err(other) => return Err(other.error(false)),
            };
            let next = match self.next(found.as_ref(), address, term) {
                Next::Write(next) => next,
                Next::IsWritten => return Ok(true),
                Next::IsLater => return Ok(false),
                Next::IsForeign => {
                    let words = format!(
                        "another program manages the EndpointSlice {}: give the Service another name",
                        self.name
                    );
                    return Err(Meaning::Refused(RegisterRefusal::Other).error(words));
                }
            };
            let how = PostParams::default();
            let written = match found {
                None => within(true, api.create(&how, &next)).await,
                Some(_) => within(true, api.replace(&self.name, &how, &next)).await,
            };
            match written {
                Ok(_) => return Ok(true),
                Err(KubeAnswer::Conflict | KubeAnswer::Absent) => {}
                Err(other) => return Err(other.error(true)),
            }
        }
        Err(Meaning::NotDone.error("others write the EndpointSlice all the time"))
    }

    /// Returns the next step for the `EndpointSlice` that was found: the request to make, or the reason to make no
    /// request.
    fn next(&self, found: Option<&EndpointSlice>, address: IpAddr, term: u64) -> Next {
        let mut wanted = self.wanted(address, term);
        let Some(found) = found else {
            return Next::Write(Box::new(wanted));
        };
        let Some(written) = term_of(found) else {
            return Next::IsForeign;
        };
        if written > term {
            return Next::IsLater;
        }
        let is_same = found.endpoints == wanted.endpoints && found.ports == wanted.ports;
        if written == term && is_same {
            return Next::IsWritten;
        }
        wanted.metadata.uid.clone_from(&found.metadata.uid);
        wanted
            .metadata
            .resource_version
            .clone_from(&found.metadata.resource_version);
        if found.address_type == wanted.address_type {
            return Next::Write(Box::new(wanted));
        }
        // Refused, because Kubernetes never changes the address type of a slice.
        Next::IsForeign
    }

    fn wanted(&self, address: IpAddr, term: u64) -> EndpointSlice {
        let kind = if address.is_ipv4() { "IPv4" } else { "IPv6" };
        let port = |(name, port): &(String, u16)| EndpointPort {
            name: Some(name.clone()),
            port: Some(i32::from(*port)),
            protocol: Some("TCP".to_owned()),
            ..EndpointPort::default()
        };
        let owned = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        let labels = [
            ("kubernetes.io/service-name", &*self.name),
            (MANAGED_BY, "actix-bully"),
        ];
        EndpointSlice {
            address_type: kind.to_owned(),
            endpoints: vec![Endpoint {
                addresses: vec![address.to_string()],
                conditions: Some(EndpointConditions {
                    ready: Some(true),
                    ..EndpointConditions::default()
                }),
                ..Endpoint::default()
            }]
            // `into` fits both forms of the field: in some versions of the API it is an `Option`.
            .into(),
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                labels: Some(labels.map(owned).into()),
                annotations: Some(BTreeMap::from([(TERM.to_owned(), term.to_string())])),
                ..ObjectMeta::default()
            },
            ports: Some(self.ports.iter().map(port).collect()),
        }
    }
}

#[derive(Debug, PartialEq)]
enum Next {
    Write(Box<EndpointSlice>),
    IsWritten,
    /// A later leader has written the slice.
    IsLater,
    /// The slice was not written by a leader: another program keeps it.
    IsForeign,
}

/// Returns the term of the leader that wrote the slice; `None` if no leader wrote it.
fn term_of(slice: &EndpointSlice) -> Option<u64> {
    let metadata = &slice.metadata;
    let keeper = metadata.labels.as_ref()?.get(MANAGED_BY)?;
    let term = metadata.annotations.as_ref()?.get(TERM)?.parse().ok();
    term.filter(|_| keeper == "actix-bully")
}

async fn within<T>(
    writes: bool,
    request: impl Future<Output = kube::Result<T>>,
) -> Result<T, KubeAnswer> {
    match timeout(ANSWER, request).await {
        Ok(answer) => answer.map_err(|error| failure::of_error(&error, writes)),
        Err(_) => Err(failure::late(writes)),
    }
}

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const TERM: &str = "actix-bully/term";
/// Largest number of attempts to write the slice. Each write of another leader meanwhile makes one attempt fail.
const MOST_ATTEMPTS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> KubernetesService {
        KubernetesService::new(KubeAccount::default(), "jobs").port("http", 8080)
    }

    fn written(address: &str, term: u64) -> EndpointSlice {
        let mut slice = service().wanted(address.parse().expect("an address"), term);
        slice.metadata.uid = Some("u".to_owned());
        slice.metadata.resource_version = Some("7".to_owned());
        slice
    }

    fn next(found: Option<&EndpointSlice>, address: &str, term: u64) -> Next {
        service().next(found, address.parse().expect("an address"), term)
    }

    #[test]
    fn a_leader_replaces_what_an_earlier_one_wrote_and_never_a_later_one() {
        let found = written("10.0.0.1", 4);
        for term in [4, 5] {
            let Next::Write(wanted) = next(Some(&found), "10.0.0.2", term) else {
                panic!("it is replaced");
            };
            assert_eq!(wanted.metadata.resource_version.as_deref(), Some("7"));
            assert_eq!(wanted.metadata.uid.as_deref(), Some("u"));
            assert_eq!(term_of(&wanted), Some(term));
        }
        assert_eq!(next(Some(&found), "10.0.0.2", 3), Next::IsLater);
        assert_eq!(next(Some(&found), "10.0.0.1", 4), Next::IsWritten);
        assert!(matches!(next(None, "10.0.0.1", 1), Next::Write(_)));
    }

    #[test]
    fn a_slice_of_another_program_is_not_changed() {
        let mut other = written("10.0.0.1", 4);
        other.metadata.annotations = None;
        assert_eq!(next(Some(&other), "10.0.0.2", 9), Next::IsForeign);
        let mut other = written("10.0.0.1", 4);
        let labels = other.metadata.labels.as_mut().expect("it has some");
        labels.insert(
            MANAGED_BY.to_owned(),
            "endpointslice-controller.k8s.io".to_owned(),
        );
        assert_eq!(next(Some(&other), "10.0.0.2", 9), Next::IsForeign);
        assert_eq!(
            next(Some(&written("10.0.0.1", 4)), "::1", 9),
            Next::IsForeign
        );
    }
}
