import { existsSync, lstatSync, mkdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Of the one user that a sandbox has. */
export const SANDBOX_USER = 1000;

/** Of this machine, besides `/usr`: what programs there need to begin, and nothing that is anybody's. */
const TOP = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const SETTINGS = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/ssl/certs",
  "/etc/pki/tls/certs",
  "/etc/mime.types",
];
/** What tells of the machine's hardware and kernel. */
const HIDDEN = ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/kallsyms", "/proc/interrupts", "/proc/config.gz"];

const FILES: Readonly<Record<string, string>> = {
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\nuser:x:${SANDBOX_USER}:${SANDBOX_USER}:user:/workspace:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n`,
  group: `root:x:0:\nuser:x:${SANDBOX_USER}:\nnogroup:x:65534:\n`,
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** Writes the files of `/etc` that every sandbox has, and gives the arguments that put them and the programs of this machine into it, read-only. */
export function readOnlyRoot(folder: string, network: boolean): readonly string[] {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text, { mode: 0o644 });
  const given = [...SETTINGS, ...(network ? ["/etc/resolv.conf"] : [])].filter((path) => existsSync(path));
  return [
    ...["--ro-bind", "/usr", "/usr"],
    ...TOP.flatMap((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found === undefined) return [];
      return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
    }),
    ...given.flatMap((path) => ["--ro-bind", path, path]),
    ...Object.keys(FILES).flatMap((name) => ["--ro-bind", join(folder, name), `/etc/${name}`]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...HIDDEN.filter((path) => existsSync(path)).flatMap((path) =>
      lstatSync(path).isDirectory() ? ["--size", "4096", "--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path],
    ),
  ];
}
