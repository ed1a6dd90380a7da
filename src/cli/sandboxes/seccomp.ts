import { endianness } from "node:os";

/**
 * Calls of the kernel that no command of a sandbox needs and that have let code out of one, or that hold what no limit counts. They fail with
 * EPERM; `clone3`, whose flags a filter cannot see, with ENOSYS, upon which libraries use `clone`; sockets of other families than `FAMILIES` with
 * EAFNOSUPPORT. Numbers: the kernel's syscall_64.tbl and asm-generic/unistd.h.
 */
interface Table {
  /** AUDIT_ARCH_*. */
  readonly arch: number;
  readonly clone: number;
  readonly clone3: number;
  readonly socket: number;
  readonly refused: readonly number[];
  /** Memory that neither a process nor a file system is seen to hold: `memfd_create`, `shmget`, `memfd_secret`. */
  readonly hidden: readonly number[];
}

// bpf, add_key, request_key, keyctl, perf_event_open, userfaultfd, io_uring_*, mount and its kin, unshare, setns, modules, kexec, swap, reboot,
// quotactl, acct, syslog, open_by_handle_at, settimeofday, clock_settime, adjtimex, pivot_root, chroot, iopl, ioperm, vhangup, fanotify_init, kcmp.
const TABLES: Readonly<Partial<Record<string, Table>>> = {
  x64: {
    arch: 0xc000003e,
    clone: 56,
    clone3: 435,
    socket: 41,
    refused: [
      321, 248, 249, 250, 298, 323, 425, 426, 427, 165, 166, 428, 429, 430, 431, 432, 433, 442, 272, 308, 175, 313, 176, 246, 320, 167, 168, 169, 179, 163, 103,
      304, 164, 227, 159, 305, 155, 161, 172, 173, 153, 300, 312,
    ],
    hidden: [319, 29, 447],
  },
  arm64: {
    arch: 0xc00000b7,
    clone: 220,
    clone3: 435,
    socket: 198,
    refused: [
      280, 217, 218, 219, 241, 282, 425, 426, 427, 40, 39, 428, 429, 430, 431, 432, 433, 442, 97, 268, 105, 273, 106, 104, 294, 224, 225, 142, 60, 89, 116, 265,
      170, 112, 171, 266, 41, 51, 58, 262, 272,
    ],
    hidden: [279, 194, 447],
  },
};

// include/uapi/linux/bpf_common.h and seccomp.h.
const LOAD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const refuse = (errno: number): number => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
/**
 * AF_UNIX, INET, INET6 and NETLINK (by which libraries learn of interfaces). Above all not AF_VSOCK, which leads to the host of a virtual machine and
 * heeds no network namespace.
 */
const FAMILIES = [1, 2, 10, 16] as const;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** Of x86-64 alone: calls by the numbers of x32, which the list does not have. */
const X32 = 0x40000000;
/** The offset of its lower half in what a filter sees (struct seccomp_data). */
const FIRST_ARGUMENT = 16;

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number];

/**
 * The program of a filter in the form that `bwrap --seccomp` reads; null for a processor whose numbers we do not have. `all`: also refuses what
 * holds memory that is seen nowhere but by a cgroup.
 */
export function seccompProgram(processor: string, all: boolean): Buffer | null {
  const table = TABLES[processor];
  if (table === undefined || endianness() !== "LE") return null;
  const refused = [...table.refused, ...(all ? table.hidden : [])];
  const program: Instruction[] = [
    [LOAD, 0, 0, 4],
    [EQUAL, 1, 0, table.arch],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, 0],
    ...(processor === "x64"
      ? ([
          [AT_LEAST, 0, 1, X32],
          [RETURN, 0, 0, refuse(ENOSYS)],
        ] as const)
      : []),
    [EQUAL, 0, 1, table.clone3],
    [RETURN, 0, 0, refuse(ENOSYS)],
    ...refused.flatMap((number): Instruction[] => [
      [EQUAL, 0, 1, number],
      [RETURN, 0, 0, refuse(EPERM)],
    ]),
    [EQUAL, 0, FAMILIES.length + 3, table.socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    ...FAMILIES.map((family, at): Instruction => [EQUAL, FAMILIES.length - at, 0, family]),
    [RETURN, 0, 0, refuse(EAFNOSUPPORT)],
    [RETURN, 0, 0, ALLOW],
    [EQUAL, 0, 3, table.clone],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [ANY_BIT, 0, 1, NEW_NAMESPACES],
    [RETURN, 0, 0, refuse(EPERM)],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, whenTrue, whenFalse, value], at) => {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(whenTrue, at * 8 + 2);
    bytes.writeUInt8(whenFalse, at * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, at * 8 + 4);
  });
  return bytes;
}
