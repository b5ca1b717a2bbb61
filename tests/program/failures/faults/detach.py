"""detach.py PID DEVICE: takes the backing file away from a loop device that only the process PID has open.

Opened a second time, for example by losetup, the device would stay alive until nobody has it open any more. So this borrows the
descriptor of the process. Ends with status 3 where the machine does not allow that.
"""

import ctypes
import errno
import fcntl
import os
import sys

PIDFD_GETFD = 438
LOOP_CLR_FD = 0x4C01

pid, device = int(sys.argv[1]), sys.argv[2]


def holders():
    """Threads with descriptors of the device; threads may have tables of their own."""
    for thread in map(int, os.listdir(f"/proc/{pid}/task")):
        directory = f"/proc/{pid}/task/{thread}/fd"
        for descriptor in os.listdir(directory):
            try:
                if os.readlink(f"{directory}/{descriptor}") == device:
                    yield thread, int(descriptor)
            except FileNotFoundError:
                pass


libc = ctypes.CDLL(None, use_errno=True)
thread, descriptor = next(holders())
try:
    # O_EXCL is PIDFD_THREAD, which Linux has since 6.9.
    holder = os.pidfd_open(thread, 0 if thread == pid else os.O_EXCL)
except OSError as error:
    print(error)
    sys.exit(3)
borrowed = libc.syscall(PIDFD_GETFD, holder, descriptor, 0)
if borrowed < 0:
    print(os.strerror(ctypes.get_errno()))
    sys.exit(3)
# A probe of udev may have it open for a moment.
while True:
    try:
        fcntl.ioctl(borrowed, LOOP_CLR_FD, 0)
    except OSError as error:
        sys.exit(0 if error.errno == errno.ENXIO else str(error))
