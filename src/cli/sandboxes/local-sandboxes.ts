import { SandboxCreationError, SandboxError } from "../../errors/rollout-errors.ts";
import type { ListedSandbox, SandboxSpec } from "../../environments/sandbox/sandbox.ts";
import { quoted } from "../../environments/sandbox/shell-words.ts";
import { MAX_LOCAL_SANDBOXES, MAX_SANDBOX_FILE_BYTES, MAX_SANDBOX_OUTPUT_BYTES } from "../../limits.ts";
import type { DescribedWall, Wall } from "../../sandboxes/local/messages.ts";
import { checkFile } from "../../sandboxes/shell-sandbox.ts";
import { checkedSpec, secondsOf } from "./checked-spec.ts";
import { removeOwnFolder, sweepFolders } from "./folders.ts";
import { Places } from "./places.ts";
import type { WalledCommand, WalledResult, WalledSandbox, WallMaker } from "./wall.ts";

/** Of what puts a file into a sandbox and takes one out. */
const FILE_SECONDS = 60;
/** How many that have ended are still known, with what ended them. */
const REMEMBERED = 1_000;
const DEFAULT_START = "tail -f /dev/null";

interface Open {
  readonly sandbox: WalledSandbox;
  readonly labels: readonly string[];
  readonly createdAt: number;
  readonly timer: NodeJS.Timeout;
  readonly leave: () => void;
}

/** The sandboxes of one local service, which live in this process's care and end with it. */
export class LocalSandboxes {
  readonly #makers: readonly WallMaker[];
  readonly #say: (line: string) => void;
  readonly #said = new Set<string>();
  readonly #open = new Map<string, Open>();
  /** What ended those that are no more, the latest last. */
  readonly #ended = new Map<string, string>();
  readonly #places = new Places(MAX_LOCAL_SANDBOXES);
  #closed = false;

  /** `makers`: the first that is there and can be what is asked for makes it. `say` is told once of each that makes one, and how its limits are kept. */
  constructor(makers: readonly WallMaker[], say: (line: string) => void = () => undefined) {
    this.#makers = makers;
    this.#say = say;
  }

  /** Removes what services that were killed left behind. */
  async sweep(): Promise<void> {
    await sweepFolders();
    for (const maker of this.#makers) await maker.sweep();
  }

  describe(): Promise<readonly DescribedWall[]> {
    return Promise.all(this.#makers.map((maker) => maker.describe()));
  }

  /** Makes one and gives its id, or waits until there is room for it. Throws a `SandboxCreationError`, or the signal's reason. */
  async create(asked: SandboxSpec, wall: Wall | null, signal: AbortSignal): Promise<string> {
    const spec = checkedSpec(asked);
    const maker = await this.#makerFor(spec, wall);
    const leave = await this.#places.enter(signal);
    try {
      const id = `${spec.name.replaceAll(/[^A-Za-z0-9]+/g, "-").slice(0, 40)}-${crypto.randomUUID()}`;
      const sandbox = await maker.open(id, spec);
      try {
        await started(sandbox, spec);
        if (signal.aborted || this.#closed) throw new SandboxCreationError("nobody waits for the sandbox any more");
      } catch (thrown) {
        await sandbox.end();
        throw thrown;
      }
      const timer = setTimeout(() => void this.#over(id, `its ${spec.timeout_minutes} minutes are over`), spec.timeout_minutes * 60_000);
      this.#open.set(id, { sandbox, labels: spec.labels, createdAt: Date.now(), timer: timer.unref(), leave });
      void sandbox.ended.then((reason) => this.#forget(id, reason));
      return id;
    } catch (thrown) {
      leave();
      throw thrown;
    }
  }

  /** Throws a `SandboxError` for one that is not there, or not any more. */
  ready(id: string): void {
    this.#of(id);
  }

  execute(id: string, command: string, options: { timeoutSeconds: number; workingDir: string | null; signal: AbortSignal }): Promise<WalledResult> {
    const sandbox = this.#of(id);
    if (command.includes("\0")) return Promise.resolve(refusal("a command line has no character 0"));
    return sandbox.run({ command, input: null, maxBytes: MAX_SANDBOX_OUTPUT_BYTES, ...options, timeoutSeconds: secondsOf(options.timeoutSeconds) });
  }

  async write(id: string, path: string, content: Uint8Array): Promise<void> {
    checkFile(path, content);
    const at = fileWord(path);
    await this.#file(id, { command: `f=${at}; mkdir -p -- "$(dirname -- "$f")" && cat > "$f"`, input: content });
  }

  async read(id: string, path: string): Promise<Uint8Array> {
    const { stdout } = await this.#file(id, { command: `cat < ${fileWord(path)}`, input: null });
    if (stdout.truncated) throw new SandboxError(`${path} is larger than the ${MAX_SANDBOX_FILE_BYTES} bytes that a file may have`);
    return stdout.bytes;
  }

  expose(id: string, port: number): Promise<string> {
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new SandboxError(`${port} is no port`);
    return this.#of(id).expose(port);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.#over(id, "it was ended")));
  }

  list(labels: readonly string[]): readonly ListedSandbox[] {
    return [...this.#open].flatMap(([id, { createdAt, labels: own }]) =>
      labels.every((label) => own.includes(label)) ? [{ id, labels: own, created_at: createdAt }] : [],
    );
  }

  /** Ends all of them: nothing is made any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.delete([...this.#open.keys()]);
    await removeOwnFolder();
  }

  async #file(id: string, { command, input }: Pick<WalledCommand, "command" | "input">): Promise<WalledResult> {
    const sandbox = this.#of(id);
    const { exitCode, stderr, stdout } = await sandbox.run({
      command,
      input,
      workingDir: null,
      timeoutSeconds: FILE_SECONDS,
      maxBytes: MAX_SANDBOX_FILE_BYTES,
      signal: null,
    });
    if (exitCode !== 0) throw new SandboxError(stderr.bytes.toString().slice(0, 500).trim() || `status ${exitCode}`);
    return { exitCode, stderr, stdout };
  }

  async #makerFor(spec: SandboxSpec, wall: Wall | null): Promise<WallMaker> {
    const makers = this.#makers.filter((maker) => wall === null || maker.wall === wall);
    const lacking: string[] = [];
    let hint: string | null = null;
    for (const maker of makers) {
      const lacks = maker.lacks(spec);
      const { hint: help, limits, problem } = lacks === null ? await maker.describe() : { hint: null, limits: null, problem: lacks };
      if (problem === null) {
        this.#tell(`sandboxes by ${maker.wall}: ${limits}`);
        return maker;
      }
      lacking.push(problem);
      hint ??= help;
    }
    throw new SandboxCreationError(
      `this machine has no wall for a sandbox: ${lacking.join("; ")}${hint === null ? "" : ` (${hint})`}`,
      hint === null ? {} : { hint },
    );
  }

  #tell(line: string): void {
    if (this.#said.has(line)) return;
    this.#said.add(line);
    this.#say(line);
  }

  #of(id: string): WalledSandbox {
    const open = this.#open.get(id);
    if (open !== undefined) return open.sandbox;
    const reason = this.#ended.get(id);
    throw new SandboxError(`there is no sandbox ${id.slice(0, 100)}${reason === undefined ? "" : `: ${reason}`}`);
  }

  async #over(id: string, reason: string): Promise<void> {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#forget(id, reason);
    await open.sandbox.end();
    open.leave();
  }

  /** From now on it is not there. */
  #forget(id: string, reason: string): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    clearTimeout(open.timer);
    // Its place is free once its processes are gone.
    void open.sandbox.ended.then(open.leave);
    this.#ended.set(id, reason);
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= REMEMBERED) break;
      this.#ended.delete(oldest);
    }
  }
}

/** What it is to do from its start, behind the commands. */
async function started(sandbox: WalledSandbox, { start_command }: SandboxSpec): Promise<void> {
  if (start_command.trim() === "" || start_command === DEFAULT_START) return;
  const command = `nohup sh -c ${quoted(start_command)} > /tmp/.edgewise-start.log 2>&1 < /dev/null &`;
  await sandbox.run({ command, input: null, workingDir: null, timeoutSeconds: FILE_SECONDS, maxBytes: 4_096, signal: null });
}

function refusal(text: string): WalledResult {
  const none = { bytes: Buffer.alloc(0), truncated: false };
  return { stdout: none, stderr: { bytes: Buffer.from(`${text}\n`), truncated: false }, exitCode: 126 };
}

/** A path as one word that no program takes for an option. */
function fileWord(path: string): string {
  if (path === "" || path.includes("\0")) throw new SandboxError("a path has at least one character, and no character 0");
  return quoted(path.startsWith("/") ? path : `./${path}`);
}
