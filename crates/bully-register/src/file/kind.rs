//! Tells on which file systems a lock excludes every process.
//!
//! Decided here: which file systems are refused, since another kernel may have the same files and not see our locks. A
//! file system in user space is refused too, because it does not show where its files are.

/// Returns the name of a shared file system with that number; `None` if only this kernel has its files.
pub(super) fn shared_kind(number: u32) -> Option<&'static str> {
    let found = SHARED.iter().find(|(shared, _)| *shared == number);
    found.map(|(_, name)| *name)
}

/// Returns the number of the file system at a path; `None` if the system has no such numbers.
#[cfg(target_os = "linux")]
pub(super) fn kind_at(path: &std::path::Path) -> std::io::Result<Option<u32>> {
    // The type has another width and sign on each processor; the numbers have 32 bits.
    let kind = i128::from(rustix::fs::statfs(path)?.f_type);
    Ok(u32::try_from(kind.rem_euclid(1 << 32)).ok())
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the same function as on Linux")]
pub(super) fn kind_at(_: &std::path::Path) -> std::io::Result<Option<u32>> {
    Ok(None)
}

/// The numbers in Linux: `statfs(2)` and `linux/magic.h`.
const SHARED: &[(u32, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x00c3_6400, "Ceph"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x2003_0528, "OrangeFS"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x786f_4256, "a folder of VirtualBox"),
    (0xbacb_acbc, "a folder of VMware"),
];
