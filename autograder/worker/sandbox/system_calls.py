"""The system calls that computation needs: the filter of a confined worker allows these and no others.

The filter refuses every other call, also those that a later kernel adds: a confined worker can start no process or
program, open no socket, mount nothing, make no namespace, use no anonymous memory file, and reach no other process, no
key, BPF or io_uring.
"""

_TABLE = """
read                      0   63
write                     1   64
open                      2    -
close                     3   57
stat                      4    -
fstat                     5   80
lstat                     6    -
poll                      7    -
lseek                     8   62
mmap                      9  222
mprotect                 10  226
munmap                   11  215
brk                      12  214
rt_sigaction             13  134
rt_sigprocmask           14  135
rt_sigreturn             15  139
pread64                  17   67
pwrite64                 18   68
readv                    19   65
writev                   20   66
access                   21    -
pipe                     22    -
select                   23    -
sched_yield              24  124
mremap                   25  216
msync                    26  227
mincore                  27  232
madvise                  28  233
dup                      32   23
dup2                     33    -
pause                    34    -
nanosleep                35  101
getitimer                36  102
alarm                    37    -
setitimer                38  103
getpid                   39  172
sendfile                 40   71
exit                     60   93
wait4                    61  260
uname                    63  160
fcntl                    72   25
flock                    73   32
fsync                    74   82
fdatasync                75   83
truncate                 76   45
ftruncate                77   46
getdents                 78    -
getcwd                   79   17
chdir                    80   49
fchdir                   81   50
rename                   82    -
mkdir                    83    -
rmdir                    84    -
creat                    85    -
link                     86    -
unlink                   87    -
symlink                  88    -
readlink                 89    -
chmod                    90    -
fchmod                   91   52
umask                    95  166
gettimeofday             96  169
getrlimit                97  163
setrlimit               160  164
getrusage                98  165
sysinfo                  99  179
times                   100  153
getuid                  102  174
getgid                  104  176
geteuid                 107  175
getegid                 108  177
getppid                 110  173
getpgrp                 111    -
getgroups               115  158
getresuid               118  148
getresgid               120  150
getpgid                 121  155
getsid                  124  156
capget                  125   90
rt_sigpending           127  136
rt_sigtimedwait         128  137
rt_sigsuspend           130  133
sigaltstack             131  132
statfs                  137   43
fstatfs                 138   44
getpriority             140  141
setpriority             141  140
sched_getparam          143  121
sched_getscheduler      145  120
sched_get_priority_max  146  125
sched_get_priority_min  147  126
arch_prctl              158    -
gettid                  186  178
futex                   202   98
time                    201    -
sched_setaffinity       203  122
sched_getaffinity       204  123
getdents64              217   61
set_tid_address         218   96
fadvise64               221  223
timer_create            222  107
timer_settime           223  110
timer_gettime           224  108
timer_getoverrun        225  109
timer_delete            226  111
clock_gettime           228  113
clock_getres            229  114
clock_nanosleep         230  115
exit_group              231   94
epoll_wait              232    -
epoll_ctl               233   21
utimes                  235    -
waitid                  247   95
openat                  257   56
mkdirat                 258   34
newfstatat              262   79
unlinkat                263   35
renameat                264   38
linkat                  265   37
symlinkat               266   36
readlinkat              267   78
fchmodat                268   53
faccessat               269   48
pselect6                270   72
ppoll                   271   73
set_robust_list         273   99
get_robust_list         274  100
utimensat               280   88
epoll_pwait             281   22
eventfd                 284    -
fallocate               285   47
eventfd2                290   19
epoll_create            213    -
epoll_create1           291   20
dup3                    292   24
pipe2                   293   59
preadv                  295   69
pwritev                 296   70
getcpu                  309  168
renameat2               316  276
getrandom               318  278
membarrier              324  283
statx                   332  291
rseq                    334  293
close_range             436  436
faccessat2              439  439
get_mempolicy           239  236
set_mempolicy           238  237
mbind                   237  235
restart_syscall         219  128
kill                     62  129
tgkill                  234  131
clone                    56  220
clone3                  435  435
ioctl                    16   29
prctl                   157  167
prlimit64               302  261
"""
"""Name, number on x86-64, number on AArch64, where `-` means that there is no such call.

Sources: the kernel's asm/unistd_64.h and asm-generic/unistd.h.
"""

WITH_CONDITIONS = frozenset({"kill", "tgkill", "clone", "clone3", "ioctl", "prctl", "prlimit64"})
"""Calls that the filter allows only for some values of their arguments."""


def _numbers(column: int) -> dict[str, int]:
    rows = [line.split() for line in _TABLE.split("\n") if line]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


MACHINES = {"x86_64": (0xC000003E, _numbers(1)), "aarch64": (0xC00000B7, _numbers(2))}
"""The audit architecture and the numbers, by the kernel's name of the processor."""
