"""Tell whether a folder is on a network mount, where SQLite's write-ahead log is unsafe.

The log needs memory that all processes of one host share; two hosts on one mount have none, and
many network file systems do not even offer it to one (https://sqlite.org/wal.html, section 2.2).
"""

from __future__ import annotations

import os

MOUNTS = "/proc/self/mounts"  # Linux; elsewhere nothing is known and a disk is taken for local
NETWORK_TYPES = {
    "9p", "acfs", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "glusterfs", "gpfs",
    "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "pvfs2", "smb3", "smbfs",
    "vboxsf", "virtiofs", "vmhgfs",
}  # fmt: skip
# A file system in user space is as remote as its program; these are local.
LOCAL_FUSE = {"fuse.fuse-overlayfs", "fuse.ntfs", "fuse.ntfs-3g", "fuse.exfat", "fuse.encfs",
              "fuse.gocryptfs", "fuse.bindfs"}  # fmt: skip


def is_network(folder: str, mounts: str = MOUNTS) -> bool:
    """Look up the mount that holds a folder in a table as Linux keeps it."""
    try:
        with open(mounts, "rb") as file:
            table = file.read().decode("utf-8", "surrogateescape")
    except OSError:
        return False
    return is_network_type(type_of(os.path.realpath(folder), table))


def type_of(folder: str, table: str) -> str:
    """Give the type of the mount that holds a real path; the last of several on one folder."""
    longest, found = -1, ""
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _unescaped(fields[1]).rstrip("/") + "/"
        if f"{folder}/".startswith(point) and len(point) >= longest:
            longest, found = len(point), fields[2]
    return found


def is_network_type(name: str) -> bool:
    """Tell whether a type of file system is, or may be, on another host."""
    return name in NETWORK_TYPES or (name.startswith("fuse.") and name not in LOCAL_FUSE)


def _unescaped(field: str) -> str:
    r"""Undo the octal escapes of a mount table, such as \040 for a space."""
    first, *rest = field.split("\\")
    return first + "".join(chr(int(part[:3], 8)) + part[3:] for part in rest)
