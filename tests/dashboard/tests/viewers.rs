//! A viewer that never reads: it holds a place for a while, and costs nothing else.

use std::time::Duration;

use actix_bully::testkit::cluster::Cluster;
use actix_bully_dashboard_tests::{Viewer, command, run, stage};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
};

#[test]
fn a_viewer_that_never_reads_is_dropped_and_holds_nothing_up() {
    run(async {
        let (page, _thread) = stage(|| Cluster::builder().agents(300));
        let page = page.viewers(2);
        let (address, server) = page.serve(0).unwrap();
        actix::spawn(server);
        // The receive buffer is as small as the system allows, so that it is soon full.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(1).unwrap();
        let mut silent = socket.connect(address).await.unwrap();
        let request = format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n");
        silent.write_all(request.as_bytes()).await.unwrap();

        let mut viewer = Viewer::new(&page).await.unwrap();
        viewer.led_by(&["agent-300"]).await;
        // Each new agent causes a new snapshot for every viewer, until the silent viewer's socket is full. A viewer
        // that has read nothing for a few seconds loses its place, and then another viewer can connect.
        let mut other = Viewer::new(&page).await;
        assert_eq!(other.as_ref().err(), Some(&503), "both places are taken");
        for number in 301.. {
            if other.is_ok() {
                break;
            }
            let join = format!(r#"{{"command":"join agent-{number} 1"}}"#);
            assert_eq!(
                command(&page, &join).await.status,
                200,
                "the cluster goes on"
            );
            let joined = format!("agent-{number}");
            viewer
                .until("the others see it", |v| !v.agent(&joined).is_null())
                .await;
            actix::clock::sleep(Duration::from_millis(100)).await;
            other = Viewer::new(&page).await;
        }
        // The server closes the connection, although the silent viewer has not read everything.
        let mut rest = Vec::new();
        let end = actix::clock::timeout(Duration::from_secs(10), silent.read_to_end(&mut rest));
        end.await.expect("the connection ends").ok();
    });
}
