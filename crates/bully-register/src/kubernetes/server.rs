//! Which API server is asked, and when a client is made anew.
//!
//! Decided here: that each connect reads the account again and makes a client of its own, whose connections end with it. So a
//! request that ran into its limit is repeated on a new connection, and a token that has ended is read again. An address of
//! several API servers leads to any of them then.

use std::pin::pin;

use futures::future::select;
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use tokio::{
    sync::{mpsc, oneshot},
    task::{JoinHandle, spawn_blocking, spawn_local},
    time::timeout,
};

use super::{
    account::KubeAccount,
    busy::BusyServer,
    failure::{self, KubeAnswer, KubeFailure},
    session::KubeSession,
    watch::watch_all,
};
use crate::{
    RegisterError, RegisterRefusal,
    connection::{ANSWER, Course, Meaning, Server, Tellers},
};

/// See the [module](self).
pub(super) struct KubeServer {
    account: KubeAccount,
    /// A client that is being made: a plugin for credentials may hang.
    begun: Option<JoinHandle<Result<Client, RegisterError>>>,
}

impl KubeServer {
    pub(super) const fn new(account: KubeAccount) -> Self {
        let begun = None;
        Self { account, begun }
    }

    /// A client with the account of this moment. One that takes too long is waited for again the next time: of plugins that
    /// hang, one runs.
    async fn client(&mut self) -> Result<Client, RegisterError> {
        let account = self.account.clone();
        let begun = self
            .begun
            .get_or_insert_with(|| spawn_blocking(move || account.client()));
        let Ok(made) = timeout(ANSWER, begun).await else {
            let words = format!(
                "the credentials are not there after {ANSWER:?}: see the plugin of the kubeconfig"
            );
            return Err(Meaning::Refused(RegisterRefusal::Credentials).error(words));
        };
        self.begun = None;
        made.map_err(|lost| Meaning::NotDone.error(lost.to_string()))?
    }
}

impl Server for KubeServer {
    type Session = KubeSession;

    async fn connect(
        &mut self,
        told: &Tellers,
        _after: Course,
    ) -> Result<(KubeSession, mpsc::Receiver<Course>), RegisterError> {
        let client = self.client().await?;
        match timeout(ANSWER, client.apiserver_version()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) if is_alive(&error) => {}
            Ok(Err(error)) => return Err(of_connect(&error)),
            Err(_) => {
                let words = format!("no answer within {ANSWER:?}");
                return Err(Meaning::NotDone.error(words));
            }
        }
        let api: Api<Lease> = Api::default_namespaced(client);
        let (end, ended) = mpsc::channel(1);
        let (alive, dropped) = oneshot::channel::<()>();
        let busy = BusyServer::default();
        let watches = watch_all(api.clone(), told.clone(), busy.clone());
        spawn_local(async move {
            select(pin!(watches), dropped).await;
        });
        Ok((KubeSession::new(api, busy, end, alive), ended))
    }
}

/// Whether it answered, and may well take Leases: a Role need not show the version.
fn is_alive(error: &kube::Error) -> bool {
    match failure::of_error(error, false) {
        KubeAnswer::Absent | KubeAnswer::Conflict => true,
        KubeAnswer::Failed(failed) => {
            matches!(error, kube::Error::Api(_)) && !failed.course.ends_connection()
        }
    }
}

fn of_connect(error: &kube::Error) -> RegisterError {
    match failure::of_error(error, false) {
        // The account was read a moment ago: no other token is there.
        KubeAnswer::Failed(KubeFailure {
            meaning: Meaning::NotDone,
            course: Course::LogsIn,
            words,
            ..
        }) => Meaning::Refused(RegisterRefusal::Credentials).error(words),
        answer @ (KubeAnswer::Failed(_) | KubeAnswer::Absent | KubeAnswer::Conflict) => {
            answer.error(false)
        }
    }
}
