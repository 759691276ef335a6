//! One run of the command, in the process of `bullyctl`: its guard, its deadline, and its end.
//!
//! Decided here: the effects of a renewal, a step-down and a silent guard. The guard ends the command. A guard that
//! does not end the command in time is killed. The command ends with its guard, for every kind of the guard's end
//! (`wrapper.rs`). The command's orphans become children of this process, which kills them. So the command ends even if
//! one of the two processes is killed or stands still.

use std::{
    ffi::OsString,
    future::poll_fn,
    io::{self, IoSlice, stdin},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    pin::{Pin, pin},
    process::{Child, Command, Stdio},
    task::Poll,
    time::Duration,
};

use actix_bully::{
    agent::LeaderGuard,
    clock::{BootClock, Clock},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown,
        SocketFlags, SocketType, recv, send, sendmsg, shutdown, socketpair,
    },
    process::{Pid, getpid},
};
use tokio::{
    io::{Interest, unix::AsyncFd},
    time::sleep,
};

use super::{
    children::{children, end_all},
    frames::{LONGEST, RunOrder, RunReport, decode, encode},
    limits::{Limits, after},
    messages::tell,
    outcome::{CommandEnd, CommandStatus, EndCause},
};

/// A command to run, and its environment.
#[derive(Clone, Debug)]
pub(super) struct GuardedCommand<'a> {
    pub(super) words: &'a [OsString],
    /// Variables that are set in the command's environment, or removed from it.
    pub(super) variables: Vec<(&'static str, Option<String>)>,
}

/// A running guard and its command. A drop ends the guard and the command, and waits for their end.
#[derive(Debug)]
pub(super) struct Guarded {
    socket: AsyncFd<OwnedFd>,
    guard: Child,
    /// Children of this process that do not belong to the command, such as the children of a shell that became this
    /// process.
    spared: Vec<Pid>,
    limits: Limits,
    clock: BootClock,
    /// Last moment at which no request to hand over was seen. The drain began later, so the end of the drain that is
    /// computed from this time is never too late, even if this process stood still meanwhile.
    led: u64,
    /// End of the drain, if the command was asked to end.
    drained_at: Option<u64>,
    told: Option<RunOrder>,
    state: GuardState,
}

/// The state of the guard and its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuardState {
    Runs,
    /// The guard reported the end of all processes, and is about to end.
    Reported(CommandEnd),
    /// The guard has ended too.
    Over(CommandEnd),
}

/// A message of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Report(RunReport),
    Nothing,
    Closed,
}

impl Guarded {
    /// Starts a guard, which starts the command if there is time left. Returns `None` if the leadership is already
    /// being handed over: then nothing is started.
    ///
    /// The calling thread must live as long as this process: the kernel signals the guard when that thread ends.
    #[expect(
        deprecated,
        reason = "its successor is unsafe, for types that may name another descriptor later: one that is owned stays"
    )]
    pub(super) async fn start(
        command: &GuardedCommand<'_>,
        leader: &LeaderGuard,
        limits: Limits,
        clock: BootClock,
    ) -> io::Result<Option<Self>> {
        // The clock is read first: the start takes time, and the drain may begin meanwhile.
        let led = clock.now().as_nanos();
        if is_ready(pin!(leader.stepping_down())).await {
            return Ok(None);
        }
        let kind = (AddressFamily::UNIX, SocketType::SEQPACKET);
        let (own, theirs) = socketpair(kind.0, kind.1, SocketFlags::CLOEXEC, None)?;
        let socket = AsyncFd::with_interest(own, Interest::READABLE)?;
        let spared = children()?;
        let parent = getpid().as_raw_nonzero().to_string();
        let margin = limits.margin.as_nanos().to_string();
        // The guard is started through /proc, because the program's file may have been replaced by a newer version.
        let mut guard = Command::new("/proc/self/exe");
        guard
            .arg0("bullyctl-guard")
            .args(["run-guard", "--parent", &parent, "--margin", &margin, "--"])
            .args(command.words)
            // A signal of the terminal to this process's group, such as a stop, must not reach the guard.
            .process_group(0)
            .stdin(Stdio::from(theirs));
        for (name, value) in &command.variables {
            match value {
                Some(value) => guard.env(name, value),
                None => guard.env_remove(name),
            };
        }
        let mut guarded = Self {
            socket,
            guard: guard.spawn()?,
            spared,
            limits,
            clock,
            led,
            drained_at: None,
            told: None,
            state: GuardState::Runs,
        };
        // This closes this process's copy of the guard's end of the socket.
        drop(guard);
        // The step-down is checked again, because the start of a process may take longer than the drain. A guard whose
        // first order asks for the end starts no command.
        if is_ready(pin!(leader.stepping_down())).await {
            guarded.drained_at = Some(after(led, limits.drain));
        }
        let order = guarded.order(leader);
        guarded.give_input(order)?;
        Ok(Some(guarded))
    }

    /// Sends the first order, with the user's standard input.
    fn give_input(&mut self, order: RunOrder) -> io::Result<()> {
        let input = stdin();
        let descriptors = [input.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut more = SendAncillaryBuffer::new(&mut space);
        more.push(SendAncillaryMessage::ScmRights(&descriptors));
        let bytes = encode(&order);
        let socket = self.socket.get_ref();
        sendmsg(socket, &[IoSlice::new(&bytes)], &mut more, NOW)?;
        self.told = Some(order);
        Ok(())
    }

    /// Waits until the command and all its processes have ended.
    pub(super) async fn attend(&mut self, leader: &LeaderGuard) -> CommandEnd {
        let mut stepping_down = pin!(leader.stepping_down());
        loop {
            let now = self.now();
            if self.drained_at.is_none() {
                if is_ready(stepping_down.as_mut()).await {
                    self.step_down(leader);
                } else {
                    self.led = now;
                }
            }
            let order = self.order(leader);
            if self.told != Some(order) {
                self.send(order);
            }
            if now >= self.limits.give_up_at(order.deadline) {
                return self.finish();
            }
            let look = self.limits.look_after(now, order.deadline);
            tokio::select! {
                biased;
                heard = hear(&self.socket) => match heard {
                    Heard::Report(RunReport::Started(process)) => {
                        tell(&format!("the command runs as process {process}"));
                    }
                    Heard::Report(RunReport::Ended(end)) => {
                        self.state = GuardState::Reported(end);
                        return self.finish();
                    }
                    Heard::Closed => return self.finish(),
                    Heard::Nothing => {}
                },
                () = &mut stepping_down, if self.drained_at.is_none() => self.step_down(leader),
                () = sleep(look) => {}
            }
        }
    }

    /// Asks the command to end, because the leadership is handed over.
    fn step_down(&mut self, leader: &LeaderGuard) {
        let drained_at = after(self.led, self.limits.drain);
        self.drained_at = Some(drained_at);
        let order = self.order(leader);
        self.send(order);
        let left = self.limits.kill_at(drained_at).saturating_sub(self.now());
        let left = Duration::from_millis(left / 1_000_000);
        tell(&format!(
            "the leadership is handed over: the command has {left:?} to end"
        ));
    }

    fn order(&self, leader: &LeaderGuard) -> RunOrder {
        // The clock is read first: then the deadline may be too early, but never too late.
        let now = self.now();
        RunOrder {
            deadline: Limits::deadline(now, leader.holds_for(), self.drained_at),
            asks_to_end: self.drained_at.is_some(),
        }
    }

    fn send(&mut self, order: RunOrder) {
        // A guard that stands still may not accept the order. The next order is sent anyway.
        let sent = send(self.socket.get_ref(), &encode(&order), NOW);
        self.told = sent.is_ok().then_some(order);
    }

    fn now(&self) -> u64 {
        self.clock.now().as_nanos()
    }

    /// Returns the guard's process.
    pub(super) fn process(&self) -> Pid {
        Pid::from_child(&self.guard)
    }

    /// Ends the guard and the command; a second call does nothing. It blocks, because the leadership must not move to
    /// another host before the end of the command.
    pub(super) fn finish(&mut self) -> CommandEnd {
        if let GuardState::Over(end) = self.state {
            return end;
        }
        // The guard considers the shutdown the end of this process, and kills the command.
        shutdown(self.socket.get_ref(), Shutdown::Write).ok();
        let is_silent = loop {
            match self.hear_within(self.limits.patience()) {
                Some(Heard::Report(RunReport::Ended(end))) => {
                    self.state = GuardState::Reported(end);
                }
                Some(Heard::Closed) => break false,
                Some(Heard::Report(RunReport::Started(_)) | Heard::Nothing) => {}
                None => break true,
            }
        };
        if is_silent {
            self.guard.kill().ok();
        }
        self.guard.wait().ok();
        let end = if let GuardState::Reported(end) = self.state {
            // The guard left no process. Orphans of other processes may be children of this process, and continue.
            end
        } else {
            self.end_orphans();
            CommandEnd {
                status: CommandStatus::Unknown,
                cause: EndCause::GuardLost,
            }
        };
        self.state = GuardState::Over(end);
        end
    }

    /// Ends the processes that are left after a guard did not end them.
    fn end_orphans(&self) {
        if let Err(left) = end_all(&self.spared) {
            tell(&left.to_string());
        }
    }

    /// Waits for a message of the guard; `None` after this time without a message.
    fn hear_within(&self, patience: Duration) -> Option<Heard> {
        let socket = self.socket.get_ref();
        let patience = Timespec::try_from(patience).ok();
        let mut watched = [PollFd::new(socket, PollFlags::IN)];
        match poll(&mut watched, patience.as_ref()) {
            Ok(0) => None,
            Ok(_) | Err(Errno::INTR) => Some(hear_now(socket)),
            Err(_) => Some(Heard::Closed),
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.finish();
    }
}

async fn is_ready(mut future: Pin<&mut impl Future<Output = ()>>) -> bool {
    poll_fn(|task| Poll::Ready(future.as_mut().poll(task).is_ready())).await
}

/// Waits for the guard's next message.
async fn hear(socket: &AsyncFd<OwnedFd>) -> Heard {
    loop {
        let Ok(mut ready) = socket.readable().await else {
            return Heard::Closed;
        };
        match hear_now(socket.get_ref()) {
            Heard::Nothing => ready.clear_ready(),
            heard => return heard,
        }
    }
}

pub(super) fn hear_now(socket: &OwnedFd) -> Heard {
    let mut bytes = [0; LONGEST];
    loop {
        match recv(socket, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return Heard::Closed,
            Ok((_, len)) => {
                let report = bytes.get(..len).and_then(decode);
                return report.map_or(Heard::Nothing, Heard::Report);
            }
            // A guard that ends without having read an order causes `CONNRESET` once, before its last report is read.
            Err(Errno::INTR | Errno::CONNRESET) => {}
            Err(Errno::AGAIN) => return Heard::Nothing,
            Err(_) => return Heard::Closed,
        }
    }
}

/// Does not wait, and raises no signal if the other end is closed.
const NOW: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
