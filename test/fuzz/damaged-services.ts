import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Random } from "../simulation/world/random.ts";
import { until, Workplace } from "../support/cli/cli-process.ts";
import { grid, keysOfRows } from "../support/cli/in-place.ts";
import { type ModelServer, startModelServer } from "../support/model-server/model-server.ts";
import { jsonRows } from "../support/results/results-check.ts";
import { damagedFiles, filesBelow } from "./damaged-files.ts";

const [EXAMPLES, ANSWERED] = [20, 8];
/** A command that takes longer hangs: it starts a runtime, and a damaged lock is waited for. */
const PATIENCE_MS = 60_000;

/** The real command on a state that was damaged while nobody worked with it. Made once, damaged again for each case. */
export class DamagedServices {
  readonly #place: Workplace;
  readonly #model: ModelServer;
  readonly #kept = mkdtempSync(join(tmpdir(), "edgewise-kept-"));

  private constructor(place: Workplace, model: ModelServer) {
    this.#place = place;
    this.#model = model;
  }

  /** A run that was interrupted after some answers, with its state and its folder. Needs the built command. */
  static async make(): Promise<DamagedServices> {
    const [place, model] = [new Workplace(), await startModelServer({ latency_ms: 30 })];
    const made = new DamagedServices(place, model);
    const cli = place.start([...made.#run, "-n", String(EXAMPLES), "-r", "1", "-c", "2"]);
    const answered = (): number => model.ledger.stats().total;
    await until(
      () => answered() >= ANSWERED,
      PATIENCE_MS,
      () => cli.stderr(),
    );
    cli.interrupt();
    await cli.ended;
    cpSync(place.folder, made.#kept, { recursive: true });
    return made;
  }

  get #run(): readonly string[] {
    return ["eval", "run", "reverse-text", "-m", "scripted", "-b", this.#model.url];
  }

  async close(): Promise<void> {
    this.#place.remove();
    rmSync(this.#kept, { recursive: true, force: true });
    await this.#model.close();
  }

  /**
   * Damages the state as the seed says. Every command ends in time and without a stack; the run is gone on with, or refused in words; then
   * `--fresh-state` goes on, and no row that was there is gone.
   */
  async play(seed: number): Promise<string> {
    const place = this.#place;
    for (const name of [".edgewise", "outputs"]) {
      rmSync(join(place.folder, name), { recursive: true, force: true });
      cpSync(join(this.#kept, name), join(place.folder, name), { recursive: true });
    }
    const sound = filesBelow(place.state);
    const files = damagedFiles(new Random(Math.imul(seed, 0x9e3779b1)), sound);
    const damages: string[] = [];
    for (const path of sound.keys()) {
      const bytes = files.get(path);
      if (bytes === sound.get(path)) continue;
      damages.push(path.slice(place.state.length + 1));
      rmSync(path);
      mkdirSync(dirname(path), { recursive: true });
      if (bytes !== undefined) writeFileSync(path, bytes);
    }
    const rows = (): readonly string[] => jsonRows(readFileSync(join(place.results, "results.jsonl"), "utf8")).map((row) => JSON.stringify(row));
    const before = rows();
    const results = place.results;
    await this.#said(["eval", "list"], damages);
    const again = [...this.#run, "-R", results, "-c", "8"];
    const resumed = await this.#said(again, damages);
    const last = resumed.code === 0 ? resumed : await this.#said([...again, "--fresh-state"], damages);
    if (last.code !== 0) throw new Error(`${damages}: --fresh-state ended with ${last.code}:\n${resumed.stderr}\n---\n${last.stderr}`);
    const after = rows();
    const keys = keysOfRows(after.map((row) => JSON.parse(row) as never));
    if (keys.join() !== grid(EXAMPLES, 1).join()) throw new Error(`${damages}: the folder has ${keys.join(" ")}`);
    const gone = before.filter((row) => !after.includes(row));
    if (gone.length > 0) throw new Error(`${damages}: ${gone.length} rows that were there are others now`);
    return `${damages.join(", ")}: ${resumed.code === 0 ? "gone on with" : `refused (${resumed.stderr.trim().split("\n").at(-3)?.slice(0, 160)}), then --fresh-state`}`;
  }

  async #said(args: readonly string[], damages: readonly string[]): Promise<{ readonly code: number | string; readonly stderr: string }> {
    const cli = this.#place.start(args);
    const timer = setTimeout(() => process.kill(-cli.pid, "SIGKILL"), PATIENCE_MS);
    const code = await cli.ended;
    clearTimeout(timer);
    const text = cli.stdout() + cli.stderr();
    if (code === "SIGKILL") throw new Error(`${damages}: ${args.join(" ")} did not end:\n${text}`);
    if (/^\s+at .*[:(]/m.test(text)) throw new Error(`${damages}: ${args.join(" ")} printed a stack:\n${text}`);
    return { code, stderr: cli.stderr() };
  }
}
