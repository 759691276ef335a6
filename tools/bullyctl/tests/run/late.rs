//! A late renewal of a leadership that still holds: `bullyctl` is stopped until its guard has killed the command, and
//! continues before the lease ends.

use std::{path::PathBuf, thread, time::Duration};

use rustix::process::{Pid, Signal};

use crate::{
    host::{Host, Place, bullyctl, command, wait_until_gone},
    unruly::UNRULY,
};

/// Returns a configuration with a long lease. Its margin is the last second, so a renewal has time.
fn config(place: &Place) -> PathBuf {
    let leases = place.path().join("leases");
    let lease = format!("[lease]\nfolder = \"{}\"", leases.display());
    place.config_with(
        "a",
        &format!("timings.lease = \"8s\"\ntimings.promise = \"10s\"\n{lease}"),
    )
}

/// Stops `bullyctl` until its command has ended.
fn stand_still(host: &Host, command: &[Pid]) {
    host.signal(Signal::STOP);
    wait_until_gone(command);
    host.signal(Signal::CONT);
}

#[test]
fn a_command_that_was_killed_for_a_late_renewal_runs_again_in_the_same_leadership() {
    let place = Place::new();
    let mut run = bullyctl(&config(&place), &[], &command());
    run.env(UNRULY, place.unruly_by(&["ignore", "fork"]));
    let mut host = Host::spawn(run);
    stand_still(&host, &place.wait_for_ready(1));
    host.wait_for(
        "the guard killed the command, since the lease or the time to hand over was nearly over",
    );
    place.wait_for_ready(2);
    let starts = place.lines("starts");
    let fences: Vec<_> = starts.iter().map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(fences.len(), 2);
    assert_eq!(fences.first(), fences.last());
    assert_eq!(host.end(Signal::TERM), Some(0));
    place.assert_no_overlap();
}

/// The agent has its own thread, and leads again before the thread of the command continues.
#[test]
fn once_runs_no_second_time_in_the_next_leadership() {
    let place = Place::new();
    let script = "echo x >>\"$0\"; [ $(wc -l <\"$0\") = 1 ] && exec sleep 1000; exit 5";
    let file = place.path().join("runs").display().to_string();
    let command = ["sh", "-c", script, &file].map(str::to_owned);
    let config = place.config_with("a", "");
    let options = ["--no-fence", "--once"];
    let mut host = Host::spawn(bullyctl(&config, &options, &command));
    host.wait_for_command();
    host.signal(Signal::STOP);
    // The time is longer than the detection time, after which the leadership is lost.
    thread::park_timeout(Duration::from_secs(2));
    host.signal(Signal::CONT);
    assert_eq!(host.wait().code(), Some(137));
    assert_eq!(place.lines("runs").len(), 1);
}
