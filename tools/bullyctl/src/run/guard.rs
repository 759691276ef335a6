//! The guard: the process that starts and ends the command. It has one thread and no runtime.
//!
//! ```text
//!   bullyctl ── order ──▶ guard ── starts, signals, kills, reaps ──▶ the command, and all that comes of it
//! ```
//!
//! Decided here: the end of the command. The guard kills the command at the deadline less the margin, by the clock that
//! counts a suspend, even if `bullyctl` sends nothing. It kills the command at once when `bullyctl` has ended: then the
//! other end of the socket is closed, and the kernel sends the parent-death signal. The kernel also sends this signal
//! if only the thread that started the guard has ended, so the guard checks whether it still has the same parent.
//!
//! The command is a process group of its own. The guard kills the group while its leader is not reaped: until then no
//! other group can have its number. A command that has moved to another group is killed by its own number. The guard
//! kills other processes that have left the group as its own children (`children.rs`).

use std::{
    ffi::OsString,
    io::{self, IoSliceMut, Read},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use actix_bully::clock::{BootClock, Clock};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recv, recvmsg, send},
    process::{
        Pid, Signal, WaitIdStatus, getpgid, getppid, kill_process, kill_process_group,
        set_parent_process_death_signal,
    },
    stdio::stdin,
    time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    },
};
use signal_hook::{
    consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    low_level::pipe,
};

use super::{
    children::{ChildrenLeft, adopt_orphans, end_all, has_ended, reap, reap_others, rest},
    error::CANNOT_RUN,
    frames::{LONGEST, RunOrder, RunReport, decode, encode},
    limits::{Limits, NEVER},
    outcome::{CommandEnd, CommandStatus, EndCause},
    wrapper::{self, say},
};

/// The arguments of the guard.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct GuardArgs {
    /// The process that started it
    #[arg(long)]
    pub(crate) parent: i32,
    /// The time between the kill and the deadline, in nanoseconds
    #[arg(long)]
    pub(crate) margin: u64,
    /// The command
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

/// Runs a guard until its command has ended.
pub(crate) fn live(args: &GuardArgs) -> ExitCode {
    match Guard::begin(args) {
        Ok(Some(mut guard)) => {
            report(RunReport::Started(number(guard.command)));
            if let Some(end) = guard.watch() {
                report(RunReport::Ended(end));
            }
            ExitCode::SUCCESS
        }
        Ok(None) => {
            report(RunReport::Ended(CommandEnd {
                status: CommandStatus::Unknown,
                cause: EndCause::Late,
            }));
            ExitCode::SUCCESS
        }
        Err(error) => {
            // The end is reported before the message is printed, because the printing may wait for a reader.
            report(RunReport::Ended(CommandEnd {
                status: CommandStatus::Exited(CANNOT_RUN),
                cause: EndCause::Itself,
            }));
            say(&format!("the guard cannot start the command: {error}"));
            ExitCode::FAILURE
        }
    }
}

struct Guard {
    parent: Option<Pid>,
    limits: Limits,
    clock: BootClock,
    /// Receives a byte for each signal of this process.
    signals: UnixStream,
    timer: OwnedFd,
    order: RunOrder,
    command: Pid,
    was_asked: bool,
}

impl Guard {
    /// Starts the command; returns `None` if it must no longer be started.
    fn begin(args: &GuardArgs) -> io::Result<Option<Self>> {
        adopt_orphans()?;
        let (signals, written) = UnixStream::pair()?;
        signals.set_nonblocking(true)?;
        // The signals below wake the guard but do not end it: a signal to the whole service reaches the guard too.
        for signal in [SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
            pipe::register(signal, written.try_clone()?)?;
        }
        set_parent_process_death_signal(Some(Signal::TERM))?;
        let parent = Pid::from_raw(args.parent);
        // `bullyctl` may have ended before this process requested the signal; then no signal would come.
        if getppid() != parent {
            return Ok(None);
        }
        let clock = BootClock::new().map_err(io::Error::other)?;
        let timer = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC)?;
        let limits = Limits::of_guard(Duration::from_nanos(args.margin));
        let Some((order, input)) = first_order()? else {
            return Ok(None);
        };
        if order.asks_to_end || clock.now().as_nanos() >= limits.kill_at(order.deadline) {
            return Ok(None);
        }
        let child = Command::new("/proc/self/exe")
            .arg0("bullyctl-command")
            .args(wrapper::words(&args.command))
            .process_group(0)
            .stdin(Stdio::from(input))
            .spawn()?;
        Ok(Some(Self {
            parent,
            limits,
            clock,
            signals,
            timer,
            order,
            command: Pid::from_child(&child),
            was_asked: false,
        }))
    }

    /// Waits until the command and all its processes have ended. Returns `None` if it is unknown whether they have
    /// ended.
    fn watch(&mut self) -> Option<CommandEnd> {
        loop {
            let is_alone = self.read_orders() || getppid() != self.parent;
            reap_others(Some(self.command));
            if has_ended(self.command).is_some() {
                return self.end(EndCause::Itself);
            }
            if is_alone {
                return self.end(EndCause::Abandoned);
            }
            // The deadline is checked after the orders: a guard that stood still first reads the orders that arrived
            // meanwhile.
            if self.clock.now().as_nanos() >= self.limits.kill_at(self.order.deadline) {
                return self.end(EndCause::Deadline);
            }
            if self.order.asks_to_end && !self.was_asked {
                self.was_asked = true;
                self.signal(Signal::TERM);
                // A stopped process does not receive SIGTERM until it continues.
                self.signal(Signal::CONT);
            }
            self.wait();
        }
    }

    /// Reads the orders that wait. Returns whether `bullyctl` has closed its end of the socket.
    fn read_orders(&mut self) -> bool {
        loop {
            let mut bytes = [0; LONGEST];
            match recv(stdin(), &mut bytes, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return true,
                Ok((_, len)) => {
                    if let Some(order) = bytes.get(..len).and_then(decode) {
                        self.order = order;
                    }
                }
                Err(Errno::INTR) => {}
                Err(error) => return error != Errno::AGAIN,
            }
        }
    }

    /// Waits until an order or a signal arrives, or the command must be killed.
    fn wait(&mut self) {
        let at = self.limits.kill_at(self.order.deadline);
        let is_set = timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once(at)).is_ok();
        let socket = stdin();
        let mut watched = [
            PollFd::new(&socket, PollFlags::IN),
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::new(&self.timer, PollFlags::IN),
        ];
        // If the timer could not be set, the clock is checked every millisecond.
        let look = Timespec {
            tv_sec: 0,
            tv_nsec: 1_000_000,
        };
        poll(&mut watched, (!is_set).then_some(&look)).ok();
        let mut bytes = [0; 256];
        while matches!(self.signals.read(&mut bytes), Ok(1..)) {}
    }

    /// Signals the command's process group, and the command itself if it has left this group.
    fn signal(&self, signal: Signal) {
        kill_process_group(self.command, signal).ok();
        // A command in its group gets each signal once: it may take a second SIGTERM as a request to hurry. The command
        // is not reaped, so its number cannot belong to another process.
        if getpgid(Some(self.command)) != Ok(self.command) {
            kill_process(self.command, signal).ok();
        }
    }

    /// Kills all remaining processes of the command. Returns `None` if it is unknown whether a process is left.
    fn end(&self, cause: EndCause) -> Option<CommandEnd> {
        let status = loop {
            // A process that forks while it is killed leaves no child: a fork fails while a signal is pending.
            self.signal(Signal::KILL);
            if let Some(ended) = has_ended(self.command) {
                break status(&ended);
            }
            rest(Duration::from_millis(2));
        };
        kill_process_group(self.command, Signal::KILL).ok();
        reap(self.command);
        // This loop has no time limit: if it takes too long, `bullyctl` kills the guard.
        while let Err(left) = end_all(&[]) {
            if matches!(left, ChildrenLeft::Unknown(_)) {
                // A guard that ends without a report leaves its children to `bullyctl`.
                return None;
            }
        }
        Some(CommandEnd { status, cause })
    }
}

/// Reads the first order, and the user's standard input.
fn first_order() -> io::Result<Option<(RunOrder, OwnedFd)>> {
    let mut bytes = [0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut more = RecvAncillaryBuffer::new(&mut space);
    let len = loop {
        let into = &mut [IoSliceMut::new(&mut bytes)];
        match recvmsg(stdin(), into, &mut more, RecvFlags::CMSG_CLOEXEC) {
            Ok(message) => break message.bytes,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let order: Option<RunOrder> = bytes.get(..len).and_then(decode);
    let input = more.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok(order.zip(input))
}

/// Sends a report. A report without a reader is lost: then `bullyctl` has ended.
fn report(told: RunReport) {
    let bytes = encode(&told);
    while send(stdin().as_fd(), &bytes, SendFlags::NOSIGNAL) == Err(Errno::INTR) {}
}

fn status(ended: &WaitIdStatus) -> CommandStatus {
    let small = |number: Option<i32>| number.and_then(|number| u8::try_from(number).ok());
    if let Some(status) = small(ended.exit_status()) {
        CommandStatus::Exited(status)
    } else if let Some(signal) = small(ended.terminating_signal()) {
        CommandStatus::Signaled(signal)
    } else {
        CommandStatus::Unknown
    }
}

fn number(process: Pid) -> u32 {
    process.as_raw_nonzero().get().unsigned_abs()
}

/// Returns the setting of the timer. For a deadline that never comes the setting is zero, which unsets the timer.
fn once(at: u64) -> Itimerspec {
    let nanos = match at {
        NEVER => 0,
        at => i64::try_from(at.max(1)).unwrap_or(0),
    };
    Itimerspec {
        it_interval: Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
        it_value: Timespec {
            tv_sec: nanos / SECOND,
            tv_nsec: nanos % SECOND,
        },
    }
}

const SECOND: i64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_has_the_nanoseconds_of_the_deadline_and_is_unset_if_none_comes() {
        for (at, timer) in [
            (0, (0, 1)),
            (1_999_999_999, (1, 999_999_999)),
            (2_000_000_000, (2, 0)),
            (NEVER, (0, 0)),
        ] {
            let Timespec { tv_sec, tv_nsec } = once(at).it_value;
            assert_eq!((tv_sec, tv_nsec), timer, "{at}");
        }
    }
}
