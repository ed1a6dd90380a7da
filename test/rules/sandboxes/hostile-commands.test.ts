import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { seccompProgram } from "../../../src/cli/sandboxes/seccomp.ts";
import { CommandTimedOut, type SandboxSpec } from "../../../src/environments/sandbox/sandbox.ts";
import { SandboxError } from "../../../src/errors/rollout-errors.ts";
import { MAX_SANDBOX_OUTPUT_BYTES } from "../../../src/limits.ts";
import { bubblewrapProblem, openMachine } from "../../support/environments/local-sandboxes.ts";
import { runningHere, uniqueSeconds } from "../../support/environments/processes-here.ts";
import { SPEC } from "../../support/environments/sandbox-spec.ts";

const problem = await bubblewrapProblem();
if (problem !== null) console.log(`skipped: no sandboxes of this machine (${problem})`);

const gone = (text: string) => vi.waitFor(() => expect(runningHere(text)).toEqual([]), { timeout: 10_000, interval: 50 });

describe.runIf(problem === null).each([
  ["limited by cgroups where there are some", {}],
  ["watched", { EDGEWISE_SANDBOX_CGROUPS: "0" }],
] as const)("a sandbox of this machine, %s", (_name, env) => {
  const { driver, sandboxes } = openMachine({ ...env });
  afterAll(() => sandboxes.close());
  let id: string;
  const made: string[] = [];
  const make = async (spec: Partial<SandboxSpec> = {}): Promise<string> => {
    const one = await driver.create({ ...SPEC, ...spec });
    made.push(one);
    return one;
  };
  beforeEach(async () => {
    id = await make();
  });
  afterEach(() => driver.delete(made.splice(0)));
  const run = (command: string, timeoutSeconds = 20) => driver.execute(id, command, { timeoutSeconds });
  /** The sandbox goes on, and others do. */
  const unharmed = async (): Promise<void> => {
    expect(await run("echo on | cat")).toEqual({ stdout: "on\n", stderr: "", exit_code: 0 });
    const other = await make();
    expect((await driver.execute(other, "echo on | cat", { timeoutSeconds: 20 })).stdout).toBe("on\n");
  };

  it("outlives a fork bomb, and one that is left behind", async () => {
    const name = `bomb${uniqueSeconds()}`;
    await expect(run(`bash -c '${name}() { ${name} | ${name}; }; ${name}'`, 3)).rejects.toThrow(CommandTimedOut);
    await unharmed();
    const left = `bomb${uniqueSeconds()}`;
    expect((await run(`bash -c '${left}() { ${left} | ${left} & }; ${left}' 2>/dev/null; sleep 1; echo left`)).stdout).toBe("left\n");
    // What fills the sandbox is its own: a shell still begins there, and others have theirs.
    expect((await run("echo on")).stdout).toBe("on\n");
    const other = await make();
    expect((await driver.execute(other, "echo on | cat", { timeoutSeconds: 20 })).stdout).toBe("on\n");
    await driver.delete([id]);
    await gone(left);
  }, 60_000);

  it("has no more memory than it was given, in one process and in many", async () => {
    const one = await run("head -c 10000000000 /dev/zero | tail -c 10000000000 | wc -c", 60);
    expect(Number(one.stdout)).toBeLessThan(10_000_000_000);
    expect(one.stderr).not.toBe("");
    await unharmed();
    // Each holds its part while somebody reads it, a byte at a time; the first that ends was ended.
    const part = "head -c 400000000 /dev/zero | tail -c 400000000 | read -r x";
    const many = await run(`bash -c '(${part}) & (${part}) & (${part}) & (${part}) & wait -n; kill -9 0'`, 90);
    expect(many.stderr).toContain("edgewise: a process was ended: the 1 GB of this sandbox were used up");
    await unharmed();
  }, 120_000);

  it("ends an endless loop when its time is over, with what it started", async () => {
    const seconds = uniqueSeconds();
    await expect(run(`sleep ${seconds} & while :; do :; done`, 1)).rejects.toThrow(CommandTimedOut);
    await gone(`sleep\0${seconds}`);
    await unharmed();
  });

  it("reads an output of a gigabyte to its end and keeps its beginning", async () => {
    const { exit_code, stdout, stdout_truncated } = await run("yes | head -c 1000000000; exit 5", 60);
    expect([exit_code, stdout.length, stdout_truncated]).toEqual([5, MAX_SANDBOX_OUTPUT_BYTES, true]);
    await unharmed();
  }, 90_000);

  it("writes where it may, and nowhere else", async () => {
    const name = `written-${uniqueSeconds()}`;
    const places = ["/", "/usr/", "/usr/local/bin/", "/etc/", "/dev/", "/run/edgewise/", "/proc/sys/kernel/", "/home/", "/root/", "/var/lib/"];
    const { stdout } = await run(places.map((place) => `touch ${place}${name} 2>/dev/null && echo ${place}`).join("\n"));
    expect(stdout).toBe("");
    expect(places.filter((place) => existsSync(place + name))).toEqual([]);
    expect((await run(`touch /tmp/${name} /workspace/${name} && echo "$PWD" "$HOME"`)).stdout).toBe("/workspace /workspace\n");
    expect([`/tmp/${name}`, `/workspace/${name}`].filter((path) => existsSync(path))).toEqual([]);
  });

  it("has no more files than it was given, and room again when they are removed", async () => {
    const { exit_code, stderr } = await run(
      "head -c 3000000000 /dev/zero > big; head -c 3000000000 /dev/zero > /tmp/big; head -c 3000000000 /dev/zero > /dev/shm/big",
    );
    expect([exit_code, stderr.match(/No space left/g)?.length]).toEqual([1, 3]);
    await unharmed();
    expect((await run("rm big /tmp/big && echo x > big && cat big")).stdout).toBe("x\n");
  }, 60_000);

  it("sees nothing of this machine but its programs", async () => {
    const seen = await run("ls -A /root /home /tmp /workspace; ls /; ls /proc | grep -c '^[0-9]'; env | cut -d= -f1 | sort | tr '\\n' ' '");
    expect(seen.stdout).toMatch(/^\/home:\n\n\/root:\n\n\/tmp:\n\n\/workspace:\n/);
    expect(seen.stdout).toMatch(/\nGREETING HOME LANG PATH PWD SHLVL TERM USER $/);
    expect(seen.stdout.split("\n").filter((name) => ["opt", "srv", "boot", "mnt", "media", "sys"].includes(name))).toEqual([]);
    expect((await run(`ls /proc/${process.pid} /sys/fs/cgroup /etc/shadow /etc/ssh 2>/dev/null`)).stdout).toBe("");
    expect((await run("cat /proc/1/environ /proc/*/environ | tr '\\0' '\\n' | sort -u")).stdout).not.toContain("npm_");
    expect((await run("hostname; id -u; grep -E '^(NoNewPrivs|CapEff|CapBnd)' /proc/self/status")).stdout).toBe(
      "sandbox\n1000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n",
    );
  });

  it("reaches no network, that of this machine neither", async () => {
    let asked = 0;
    const server = createServer((socket) => {
      asked++;
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const { stdout } = await run(
        `for to in 127.0.0.1/${port} 1.1.1.1/53 169.254.169.254/80; do timeout 5 bash -c "echo x > /dev/tcp/$to" 2>/dev/null && echo $to; done; true`,
        30,
      );
      expect([stdout, asked]).toEqual(["", 0]);
      // What a person did not allow for this machine, no environment has.
      await expect(driver.create({ ...SPEC, advanced_configs: { network: true } })).rejects.toThrow(/EDGEWISE_SANDBOX_NETWORK/);
    } finally {
      server.close();
    }
  }, 60_000);

  it.runIf(seccompProgram(process.arch, false) !== null)("has no sockets to the host of a virtual machine, which are in no network namespace", async () => {
    const open = (family: string, type: string): string =>
      `python3 -c "import socket; socket.socket(socket.${family}, socket.${type}); print('${family}')" 2>&1 | tail -n 1`;
    const { stdout } = await run([open("AF_VSOCK", "SOCK_STREAM"), open("AF_ALG", "SOCK_SEQPACKET"), open("AF_INET6", "SOCK_STREAM")].join("; "));
    expect(stdout).toMatch(/^OSError: \[Errno 97\].*\nOSError: \[Errno 97\].*\nAF_INET6\n$/);
  });

  it("makes no namespaces, mounts nothing and sees no kernel's keys", async () => {
    const { stdout } = await run(
      "unshare -U true && echo a; unshare -Urm true && echo b; mount -t tmpfs x /tmp && echo c; dmesg && echo d; cat /proc/keys && echo e; true",
    );
    expect(stdout).toBe("");
    if (seccompProgram(process.arch, false) !== null) expect((await run("grep '^Seccomp:' /proc/self/status")).stdout).toBe("Seccomp:\t2\n");
  });

  it("keeps what outlives its command until its end, and no longer", async () => {
    const [group, session] = [uniqueSeconds(), uniqueSeconds()];
    expect((await run(`sleep ${group} & setsid nohup sleep ${session} & echo out`)).stdout).toBe("out\n");
    expect((await run("ps -ef | grep -c '[s]leep 9'")).stdout).toBe("2\n");
    expect([runningHere(`sleep\0${group}`).length, runningHere(`sleep\0${session}`).length]).toEqual([1, 1]);
    await driver.delete([id]);
    expect([runningHere(`sleep\0${group}`), runningHere(`sleep\0${session}`)]).toEqual([[], []]);
  });

  it("ends a job with what it started", async () => {
    const [one, other] = [uniqueSeconds(), uniqueSeconds()];
    const job = await driver.start(id, `sleep ${one} & sleep ${other}`);
    await vi.waitFor(() => expect([runningHere(`sleep\0${one}`).length, runningHere(`sleep\0${other}`).length]).toEqual([1, 1]), {
      timeout: 10_000,
      interval: 20,
    });
    await driver.stop(id, job);
    await gone(`sleep\0${one}`);
    await gone(`sleep\0${other}`);
    expect(await driver.job(id, job)).toMatchObject({ running: false, exit_code: 137 });
  });

  it("is not ended by what runs in it", async () => {
    expect((await run("kill -9 -1")).exit_code).toBe(137);
    expect((await run("kill -9 1; kill -STOP 1; kill -TERM 1; kill -INT 1; kill -9 $PPID")).exit_code).toBeGreaterThan(0);
    await run(
      "(echo ready > /proc/1/fd/1); (echo 'end 0' > /proc/1/fd/0); rm -rf /run/edgewise /workspace/* /tmp/*; for p in /run/edgewise/*; do echo 0 > $p; done",
    );
    await unharmed();
  });

  it("ends a command that nobody waits for", async () => {
    const [seconds, controller] = [uniqueSeconds(), new AbortController()];
    const waiting = driver.execute(id, `sleep ${seconds}`, { timeoutSeconds: 60, signal: controller.signal });
    await vi.waitFor(() => expect(runningHere(`sleep\0${seconds}`).length).toBe(1), { timeout: 10_000, interval: 20 });
    controller.abort(new Error("over"));
    await expect(waiting).rejects.toThrow("over");
    await gone(`sleep\0${seconds}`);
    await unharmed();
  });

  it("ends when its minutes are over, and says so", async () => {
    const short = await make({ timeout_minutes: 0.01 });
    await vi.waitFor(() => expect(driver.execute(short, "true", { timeoutSeconds: 5 })).rejects.toThrow(/its 0.01 minutes are over/), {
      timeout: 10_000,
      interval: 100,
    });
    await expect(driver.ready(short)).rejects.toThrow(SandboxError);
  });

  it("serves a port to this machine while it lives", async () => {
    expect((await run("command -v python3")).stdout).not.toBe("");
    await driver.start(id, "python3 -m http.server 8000 --bind 127.0.0.1");
    const url = await driver.expose(id, 8000);
    await driver.writeFile(id, "page", new Uint8Array(2_000_000).fill(120));
    const text = await vi.waitFor(async () => (await fetch(`${url}/page`)).text(), { timeout: 10_000, interval: 200 });
    expect(text.length).toBe(2_000_000);
    await driver.delete([id]);
    await expect(fetch(url)).rejects.toThrow();
  });
});

describe.runIf(problem === null)("what is asked of this machine's sandboxes", () => {
  const { driver, sandboxes } = openMachine();
  afterAll(() => sandboxes.close());

  it.each([
    ["another image", { docker_image: "ubuntu:24.04" }, /docker_image ubuntu:24.04 needs Docker/],
    ["an option for an image", { docker_image: "--privileged" }, /docker_image --privileged is no name of an image/],
    ["a graphics card", { gpu_count: 1 }, /gpu_count 1 needs Docker/],
    ["memory that is no number", { memory_gb: Number.NaN }, /memory_gb must be above 0/],
    ["arguments in a variable", { environment_vars: { A: "x\0--bind\0/\0/machine" } }, /environment_vars.A must be text .* without a character 0/],
    ["a variable of no name", { environment_vars: { "A=B": "x" } }, /is no name of a variable/],
  ])("is refused by its field: %s", async (_what, asked, message) => {
    await expect(driver.create({ ...SPEC, ...(asked as Partial<SandboxSpec>) })).rejects.toThrow(message);
  });

  it("has this machine's network where its environment and a person want it so", async () => {
    const { driver: open, sandboxes: machine } = openMachine({ EDGEWISE_SANDBOX_NETWORK: "1" });
    const server = createServer((socket) => socket.end("here\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const command = `bash -c 'cat < /dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port}' 2>/dev/null`;
      const said = async (advanced_configs: Record<string, unknown>): Promise<string> => {
        const id = await open.create({ ...SPEC, advanced_configs });
        return (await open.execute(id, command, { timeoutSeconds: 10 })).stdout;
      };
      expect([await said({ network: true }), await said({ network: "yes" }), await said({})]).toEqual(["here\n", "", ""]);
    } finally {
      server.close();
      await machine.close();
    }
  });

  it("has none of the files that its service was started with", async () => {
    const script = `
      import { existsSync } from "node:fs";
      import { openMachine } from "./test/support/environments/local-sandboxes.ts";
      import { SPEC } from "./test/support/environments/sandbox-spec.ts";
      const { driver, sandboxes } = openMachine();
      const id = await driver.create(SPEC);
      const { stdout } = await driver.execute(id, "ls /proc/self/fd /proc/1/fd", { timeoutSeconds: 20 });
      console.log(JSON.stringify({ had: existsSync("/proc/self/fd/200"), files: stdout.split("\\n") }));
      await sandboxes.close();
    `;
    const shell = 'exec 200< /etc/hostname; exec "$0" --input-type=module -e "$1"';
    const { stdout } = await promisify(execFile)("bash", ["-c", shell, process.execPath, script], { timeout: 30_000 });
    const { had, files } = JSON.parse(stdout) as { had: boolean; files: readonly string[] };
    expect([had, files.includes("/proc/1/fd:"), files.includes("200")]).toEqual([true, true, false]);
  }, 40_000);

  it("gives variables that programs here would heed to the sandbox alone", async () => {
    const id = await driver.create({ ...SPEC, environment_vars: { LD_PRELOAD: "/nowhere.so", BASH_ENV: "/nowhere", PATH: "/usr/bin" } });
    expect((await driver.execute(id, 'echo "$LD_PRELOAD $PATH"', { timeoutSeconds: 10 })).stdout).toBe("/nowhere.so /usr/bin\n");
    await driver.delete([id]);
  });
});
