import { describe, expect, it } from "vitest";
import { seccompProgram } from "../../../src/cli/sandboxes/seccomp.ts";

/** What a filter says of a call, as the kernel computes it. */
function verdict(program: Buffer, arch: number, call: number, first = 0): number {
  let [at, value] = [0, 0];
  for (;;) {
    const [code, yes, no, k] = [program.readUInt16LE(at * 8), program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3), program.readUInt32LE(at * 8 + 4)];
    at++;
    if (code === 0x06) return k;
    if (code === 0x20) value = k === 4 ? arch : k === 0 ? call : first;
    else at += (code === 0x15 ? value === k : code === 0x35 ? value >= k : (value & k) !== 0) ? yes : no;
  }
}

describe.each([
  ["x64", 0xc000003e, { read: 0, clone: 56, unshare: 272, keyctl: 250, memfd_create: 319, socket: 41 }],
  ["arm64", 0xc00000b7, { read: 63, clone: 220, unshare: 97, keyctl: 219, memfd_create: 279, socket: 198 }],
] as const)("the filter of calls on %s", (processor, arch, calls) => {
  const [some, all] = [seccompProgram(processor, false), seccompProgram(processor, true)] as [Buffer, Buffer];
  const [ALLOW, EPERM, ENOSYS, KILL] = [0x7fff0000, 0x00050001, 0x00050026, 0x80000000];

  it("lets through what programs do, and refuses namespaces, keys and what no limit counts", () => {
    expect([verdict(some, arch, calls.read), verdict(some, arch, calls.memfd_create), verdict(all, arch, calls.memfd_create)]).toEqual([ALLOW, ALLOW, EPERM]);
    expect([verdict(some, arch, calls.unshare), verdict(some, arch, calls.keyctl), verdict(some, arch, 435)]).toEqual([EPERM, EPERM, ENOSYS]);
    // SIGCHLD alone, and with CLONE_NEWUSER.
    expect([verdict(some, arch, calls.clone, 17), verdict(some, arch, calls.clone, 0x10000011)]).toEqual([ALLOW, EPERM]);
    expect(verdict(some, 0x40000003, calls.read)).toBe(KILL);
    if (processor === "x64") expect(verdict(some, arch, 0x40000000 + 272)).toBe(ENOSYS);
  });

  it("lets through sockets of files, networks and netlink, and none that leads out of a virtual machine", () => {
    const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK, EAFNOSUPPORT] = [1, 2, 10, 16, 17, 38, 40, 0x00050061];
    for (const family of [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]) expect(verdict(some, arch, calls.socket, family)).toBe(ALLOW);
    for (const family of [0, AF_PACKET, AF_ALG, AF_VSOCK, 0xffffffff]) expect(verdict(some, arch, calls.socket, family)).toBe(EAFNOSUPPORT);
  });
});

it("a processor whose calls we do not know has no filter", () => {
  expect(seccompProgram("riscv64", true)).toBeNull();
});
