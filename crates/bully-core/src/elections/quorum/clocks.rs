//! The effects of wrong clocks, paused machines and time services on a lease. This module has no code.
//!
//! A lease is measured by one clock only, the `BootClock` of the agent that keeps it. No host compares the reading of
//! another host's clock with its own (a leader's own reading comes back to it in an `Ack`), and no reading is stored.
//! So the *readings* of two clocks never matter. Each clock only has to run as long as time passes, at about the
//! right rate.
//!
//! | event | seen by the clock | consequence | tried by |
//! |---|---|---|---|
//! | A clock's rate is wrong: a cheap quartz by 0.01 %, slewing by NTP by 0.05 %, the fastest slewing that Linux allows by 10 %. | The rate. | Nothing, even if the leader's clock is 11 % slow and its voters' clocks are 11 % fast at once (r = 11 %). | `rates_up_to_the_bound_keep_one_leader` |
//! | Rates are wrong by more: the leader's clock is slow and the leader is cut off, its voters' clocks are fast. | The rate. | Two agents consider themselves leader. With a lease of 100 ms this lasts 6 ms at 15 %, 43 ms at 30 %, 113 ms at 50 %. Their tokens differ. | `rates_beyond_the_bound_are_not_covered` |
//! | NTP steps the time, an operator sets it, a leap second, the end of summer time. | Nothing: these set the wall clock. | Nothing for a lease. A schedule is due by the wall clock, and the page of schedules says what a step does to it. | no file of the elections and of the protocol may name a wall clock (`tests/layering.rs`) |
//! | Hosts were booted years apart; a host is booted again, and its clock begins anew. | Another reading. | Nothing. | `tests/hosts boot_clocks_differ`, with time namespaces |
//! | A process is stopped: SIGSTOP, a debugger, the freezer of a container, a long page fault. | The whole time. | The lease has run out before the process takes its next step: it does not lead when it wakes. | `tests/hosts leader_frozen`, `s62_a_suspended_leader_does_not_lead_when_it_wakes` |
//! | A host is suspended to memory or to disk by its own kernel. | The whole time; timers see nothing. | The same: an agent reads the clock before it does anything else, and does not lead on because a timer is late. | `tests/simulated_network`, the fault `suspend` |
//! | A virtual machine is paused by its hypervisor, to move it or to take a snapshot. | *Often nothing:* the guest's clocks stop with it. | After the pause it considers itself leader until a message of its successor arrives. Without such a message, it does so for the rest of its lease: at most D. | `a_paused_machine_leads_until_it_hears_of_its_successor` |
//! | A snapshot of a whole machine, or of a voter's disk, is restored. | An older reading, an older record. | **Not covered.** The record has forgotten votes, and a term may get two leaders. Give that voter an empty store and another name, or restore no voter. | not tried |
//! | macOS, Android, Fuchsia, OpenBSD. | By their manuals, the same as Linux. | The same. | not tried: all tests ran on Linux |
//!
//! # What to do about it
//! - Let every write carry the token (`leader::fence`). If two agents consider themselves leader, the later one has
//!   the higher token, whatever their clocks showed. A resource that checks the token refuses the former leader. No
//!   other measure helps against a paused virtual machine.
//! - If machines are moved while they run: the pause at the end of a move depends on the machine, and is usually well
//!   below a second. With a preset that has a longer lease (`wan`), the lease lasts longer than the pause, and the
//!   leadership is not lost at all.
//! - Step the wall clock at boot and slew it later, as chrony and systemd-timesyncd do by default. A lease does not
//!   need this, but schedules and logs do.
