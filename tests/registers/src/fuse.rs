//! An empty folder of a file system in user space. It stands for every file system that other hosts may share.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use rustix::mount::{MountFlags, UnmountFlags, mount as mount_at, unmount};

/// A mounted folder. It is unmounted when this value is dropped.
#[derive(Debug)]
pub struct Mounted {
    at: PathBuf,
    serving: Option<JoinHandle<()>>,
}

/// Mounts the folder at `at`. Returns `None` if the machine has no `/dev/fuse`.
pub fn mount(at: &Path) -> Option<Mounted> {
    let device = OpenOptions::new().read(true).write(true).open("/dev/fuse");
    let device = device.ok()?;
    let options = format!(
        "fd={},rootmode=40000,user_id=0,group_id=0",
        device.as_raw_fd()
    );
    let options = std::ffi::CString::new(options).expect("plain text");
    mount_at("fuse", at, "fuse", MountFlags::empty(), options.as_c_str()).ok()?;
    Some(Mounted {
        at: at.to_path_buf(),
        serving: Some(thread::spawn(move || serve(device))),
    })
}

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(&self.at, UnmountFlags::DETACH).ok();
        if let Some(serving) = self.serving.take() {
            serving.join().ok();
        }
    }
}

/// Answers the kernel's requests until the folder is unmounted. The protocol is in `linux/fuse.h`.
fn serve(mut device: File) {
    let mut request = vec![0; 1 << 17];
    while let Ok(len) = device.read(&mut request) {
        let Some(header) = request.get(..len).filter(|it| it.len() >= 40) else {
            return;
        };
        let operation = u32::from_le_bytes(*header[4..].first_chunk().expect("long enough"));
        let (error, body) = match operation {
            INIT => (0, init()),
            STATFS => (0, vec![0; 80]),
            GETATTR => (0, folder()),
            FORGET | INTERRUPT | BATCH_FORGET => continue,
            _ => (NOT_SERVED, Vec::new()),
        };
        let len = u32::try_from(16 + body.len()).expect("short");
        let mut answer = len.to_le_bytes().to_vec();
        answer.extend(error.to_le_bytes());
        answer.extend(&header[8..16]);
        answer.extend(body);
        // The kernel refuses the answer to a request that was interrupted, which is not an error here.
        device.write_all(&answer).ok();
    }
}

/// Returns the answer to `INIT`: protocol version 7.31, and writes of at most 4,096 bytes.
fn init() -> Vec<u8> {
    let mut body = vec![0; 64];
    for (at, word) in [(0, 7_u32), (4, 31), (20, 4_096)] {
        body[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    body
}

/// Returns the attributes of a folder that belongs to root.
fn folder() -> Vec<u8> {
    let mut body = vec![0; 104];
    for (at, word) in [(16, 1_u32), (76, 0o40_755), (80, 2)] {
        body[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    body
}

const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const STATFS: u32 = 17;
const INIT: u32 = 26;
const INTERRUPT: u32 = 36;
const BATCH_FORGET: u32 = 42;
/// The error `ENOSYS`.
const NOT_SERVED: i32 = -38;
