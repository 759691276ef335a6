//! The connection to the API server, and when a new client is made.
//!
//! Decided here: each connect reads the account again and makes a new client, whose connections end with it. So the
//! requests after a request that reached its time limit use new connections, and an expired token is read again. If an
//! address belongs to several API servers, the new connection may lead to another server.

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

pub(super) struct KubeServer {
    account: KubeAccount,
    /// The task that makes a client. The task is kept, because a plugin for credentials may hang in it.
    begun: Option<JoinHandle<Result<Client, RegisterError>>>,
    busy: BusyServer,
}

impl KubeServer {
    pub(super) fn new(account: KubeAccount) -> Self {
        Self {
            account,
            begun: None,
            busy: BusyServer::default(),
        }
    }

    /// Returns a client with the present account. If this takes too long, the next call waits for the same task, so at
    /// most one plugin runs even if it hangs.
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

    /// Asks for the version of the server, which shows whether it answers and knows the account.
    async fn probe(&self, client: &Client) -> Result<(), RegisterError> {
        let answer = match timeout(ANSWER, client.apiserver_version()).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => failure::of_error(&error, false),
            Err(_) => failure::late(false),
        };
        match answer {
            // The server has answered, so it works.
            KubeAnswer::Absent | KubeAnswer::Conflict => Ok(()),
            // A new login would not help: the token was read a moment ago.
            KubeAnswer::Failed(KubeFailure {
                meaning: Meaning::NotDone,
                course: Course::LogsIn,
                words,
                ..
            }) => Err(Meaning::Refused(RegisterRefusal::Credentials).error(words)),
            KubeAnswer::Failed(failed) if failed.course.ends_connection() => {
                Err(failed.meaning.error(failed.words))
            }
            // The account may lack the right to read the version, but have the rights to Leases.
            KubeAnswer::Failed(failed) => {
                if let Some(wait) = failed.wait {
                    self.busy.note(wait);
                }
                Ok(())
            }
        }
    }
}

impl Server for KubeServer {
    type Session = KubeSession;

    async fn connect(
        &mut self,
        told: &Tellers,
        _after: Course,
    ) -> Result<(KubeSession, mpsc::Receiver<Course>), RegisterError> {
        if let Some(busy) = self.busy.refusal() {
            return Err(busy.meaning.error(busy.words));
        }
        let client = self.client().await?;
        self.probe(&client).await?;
        let api: Api<Lease> = Api::default_namespaced(client);
        let (end, ended) = mpsc::channel(1);
        let (alive, dropped) = oneshot::channel::<()>();
        let busy = self.busy.clone();
        let watches = watch_all(api.clone(), told.clone(), busy.clone());
        spawn_local(async move {
            select(pin!(watches), dropped).await;
        });
        Ok((KubeSession::new(api, busy, end, alive), ended))
    }
}
