import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/**
 * A program `docker` whose containers are folders and shells of this machine, without any wall: it shows what it is asked, in the order and with
 * the words that the real program takes, for commands of the tests' own.
 */
const PROGRAM = `
import { spawn, execSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const home = process.env.STAND_IN;
const args = process.argv.slice(2);
appendFileSync(join(home, "asked"), JSON.stringify(args) + "\\n");
const [verb] = args;
const all = (flag) => args.flatMap((each, at) => (each === flag ? [args[at + 1]] : []));
const place = (name) => join(home, "containers", name);
const end = (name) => {
  if (!existsSync(place(name))) return;
  const { pid } = JSON.parse(readFileSync(join(place(name), "facts"), "utf8"));
  rmSync(place(name), { recursive: true, force: true });
  for (const each of [pid, ...(execSync("ps -eo pid,args").toString().split("\\n").filter((line) => line.includes("in-" + name)).map((line) => parseInt(line)))])
    try { process.kill(-each, "SIGKILL"); } catch { try { process.kill(each, "SIGKILL"); } catch {} }
};
const say = (command, name, stdin, words) => {
  const { env } = JSON.parse(readFileSync(join(place(name), "facts"), "utf8"));
  const local = words.map((word) => word.replaceAll("/tmp/.edgewise", join(place(name), ".edgewise")));
  return spawn("setsid", ["-w", "env", "CONTAINER=in-" + name, command, ...local], { cwd: join(place(name), "workspace"), env: { PATH: process.env.PATH, ...env }, stdio: [stdin, "inherit", "inherit"] });
};
if (verb === "info") console.log(existsSync(join(home, "down")) ? "" : "27.0.0");
else if (verb === "run") {
  const name = all("--name")[0];
  const env = Object.fromEntries(readFileSync(all("--env-file")[0], "utf8").split("\\n").filter(Boolean).map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
  mkdirSync(join(place(name), "workspace"), { recursive: true });
  const facts = { env, pid: process.pid, labels: all("--label") };
  writeFileSync(join(place(name), "facts"), JSON.stringify(facts));
  process.stdout.write("ready\\n");
  process.stdin.resume().once("end", () => { end(name); process.exit(0); });
} else if (verb === "exec") {
  const name = args[args[1] === "--interactive" ? 2 : 1];
  if (!existsSync(place(name))) { console.error("Error response from daemon: No such container: " + name); process.exit(1); }
  const [command, ...words] = args.slice(args.indexOf(name) + 1);
  say(command, name, args[1] === "--interactive" ? "inherit" : "ignore", words).once("close", (code, signal) => process.exit(signal ? 137 : code));
} else if (verb === "rm") {
  for (const name of args.filter((each) => !each.startsWith("-")).slice(1)) end(name);
} else if (verb === "ps") {
  for (const name of existsSync(join(home, "containers")) ? readdirSync(join(home, "containers")) : []) console.log(name);
} else if (verb === "inspect") {
  const name = args.at(-1);
  if (args.includes("--size")) console.log("0 /" + name);
  else console.log(JSON.parse(readFileSync(join(place(name), "facts"), "utf8")).labels.find((label) => label.startsWith("edgewise-owner="))?.slice(15) ?? "");
} else process.exit(125);
`;

export class StandInEngine {
  readonly #home = mkdtempSync(join(tmpdir(), "edgewise-engine-"));

  constructor() {
    const bin = join(this.#home, "bin");
    mkdirSync(bin);
    writeFileSync(join(this.#home, "program.mjs"), PROGRAM);
    writeFileSync(join(bin, "docker"), `#!/bin/sh\nexec "${process.execPath}" "${join(this.#home, "program.mjs")}" "$@"\n`);
    chmodSync(join(bin, "docker"), 0o755);
  }

  /** Of a process that finds it. */
  get env(): NodeJS.ProcessEnv {
    return { PATH: [join(this.#home, "bin"), dirname(process.execPath), process.env.PATH].join(delimiter), STAND_IN: this.#home };
  }

  /** Its program stays, and has no engine to speak for. */
  stop(): void {
    writeFileSync(join(this.#home, "down"), "");
  }

  /** What it was asked, word by word. */
  get asked(): readonly (readonly string[])[] {
    return readFileSync(join(this.#home, "asked"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as string[]);
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}
