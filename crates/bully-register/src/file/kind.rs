//! The file systems on which a lock excludes every other process.
//!
//! Decided here: shared file systems are refused, since another host may use the same files and not see our locks. A
//! file system in user space (FUSE) is refused as well, because it may be shared although its number does not show it.

/// Returns the name of the shared file system with this number; `None` if the number is not of a shared file system.
pub(super) fn shared_kind(number: u32) -> Option<&'static str> {
    let found = SHARED.iter().find(|(shared, _)| *shared == number);
    found.map(|(_, name)| *name)
}

/// Returns the number of the file system at a path; `None` if the operating system has no such numbers.
#[cfg(target_os = "linux")]
pub(super) fn kind_at(path: &std::path::Path) -> std::io::Result<Option<u32>> {
    // `f_type` has different types on different processors; the numbers have 32 bits.
    let kind = i128::from(rustix::fs::statfs(path)?.f_type);
    Ok(u32::try_from(kind.rem_euclid(1 << 32)).ok())
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the same function as on Linux")]
pub(super) fn kind_at(_: &std::path::Path) -> std::io::Result<Option<u32>> {
    Ok(None)
}

/// The numbers of shared file systems in Linux, from `statfs(2)` and `linux/magic.h`.
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
