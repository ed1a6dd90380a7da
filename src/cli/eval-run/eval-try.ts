/** `edgewise eval try ENV`: one rollout of one example, shown message by message; nothing of it is kept. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isEnvironmentLine } from "../../logging/environment-line.ts";
import { printable, singleLine } from "../../report/text/printable.ts";
import { rolloutLines } from "../../report/rollout-lines.ts";
import { parseOutput } from "../../rollouts/rows/output.ts";
import { TURNS_COLUMN, type TurnFacts } from "../../rollouts/state/turns-column.ts";
import { toldLine } from "../display/progress.ts";
import type { RunProgress } from "../display/runs-display.ts";
import { environmentHints, explain } from "../service/explain.ts";
import { collectSecrets } from "../service/local-secrets.ts";
import { openService } from "../service/open-service.ts";
import type { Service } from "../service/service.ts";
import { PythonSession } from "../python/python-session.ts";
import { SharedService } from "../service/shared-service.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { Interrupted, Interrupts } from "../terminal/interrupts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { EvalCommand, EvalWish } from "./wish/eval-wish.ts";
import { placesOf } from "./wish/played-benchmark.ts";
import { benchmarkHints } from "../datasets/benchmarks-by-id.ts";
import { placesOfWish } from "./wish/eval-wishes.ts";
import { failureLines } from "./last-words.ts";
import { mayBePublished } from "../environments/local-environments.ts";
import { Preflight } from "./start/preflight.ts";
import { checkWish, datasetsOf, type PlayedRun, RunPlay } from "./run-play.ts";

/** Characters of a message that are shown unless all are asked for. */
const SHOWN = 4_000;

export interface TryCommand extends EvalCommand {
  /** Whether messages are shown whole. */
  readonly full: boolean;
}

/** 0 where the rollout finished, 1 where it ended in an error or there is none. */
export async function evalTry(command: TryCommand): Promise<ExitCode> {
  const { evals, environments, cwd, env, home, terminal } = command;
  const [asked, second] = evals;
  if (asked === undefined || second !== undefined || command.named.endsWith(".toml")) throw usageError("eval try plays one example of one environment");
  if (!env.EDGEWISE_URL && !asked.isPython && !environments.some(({ id }) => id === asked.envId)) {
    if (mayBePublished(asked.envId))
      throw usageError(
        `${asked.reference} is run by the service that has it, and eval try works without one`,
        `One example of it: npx edgewise eval run ${asked.reference} -n 1 -r 1. To try code of this machine, name its file.`,
      );
    throw usageError(
      `there is no environment ${JSON.stringify(asked.reference)}`,
      ...environmentHints({ ...asked, environments: environments.map(({ id }) => id) }),
      ...benchmarkHints(asked.envId, placesOf(asked.given, cwd)),
    );
  }
  const wish = onlyOne(asked);
  checkWish(wish, cwd, null);
  const interrupts = new Interrupts();
  // A state of its own: nothing stays behind, and no service of this folder is in the way.
  const state = mkdtempSync(join(tmpdir(), "edgewise-try-"));
  let service: SharedService | null = null;
  const python = new PythonSession(command.pythons, command.openEnvs, { cwd, env, tell: (line) => terminal.tell(line) });
  try {
    const keyNames = placesOfWish(wish).map(({ api_key_var }) => api_key_var);
    const open = (): Promise<Service> =>
      openService({
        ...command,
        env: { ...env, EDGEWISE_STATE_DIR: state },
        command: `edgewise eval try ${command.named}`,
        port: 0,
        keyNames,
        attended: true,
        onCrash: () => terminal.tell("The local runtime ended by itself and is started again."),
      });
    const [dataset = null] = await datasetsOf([wish], cwd);
    const starting = python.start();
    starting.catch(() => undefined);
    const shared = new SharedService(await open(), open);
    service = shared;
    const { client, role } = shared.current;
    await interrupts.during(starting);
    await python
      .attach(() => shared.current.client)
      .catch((error: unknown) => {
        throw explain(error, { service: shared.current, env, wish: null });
      });
    const preflight = role === "remote" ? null : new Preflight(collectSecrets({ env, cwd, home, named: keyNames }));
    const log = new TryLog(terminal);
    const envVersion = environments.find(({ id }) => id === wish.envId)?.version ?? null;
    const play = new RunPlay(wish, {
      cwd,
      keyVars: env.KEY_VARS || undefined,
      agreed: null,
      envVersion,
      service,
      interrupts,
      signal: AbortSignal.any([interrupts.signal, python.signal]),
      progress: log,
      columns: terminal.columns,
      preflight,
    });
    try {
      const played = await play.play(dataset, null);
      return await report(played, log, command, await (await client.file(played.evaluation.evaluation_id, "results.jsonl")).text());
    } catch (error) {
      if (!(error instanceof Interrupted))
        throw explain(error, { service: service.current, env, wish: { ...wish, environments: environments.map(({ id }) => id) } });
      terminal.tell("Interrupted.");
      return EXIT.interrupted;
    } finally {
      await play.leave();
      if (role === "remote" && play.begun) await client.deleteRun(play.names().runId).catch(() => undefined);
    }
  } finally {
    await python.end();
    await service?.current.close();
    interrupts.dispose();
    rmSync(state, { recursive: true, force: true });
  }
}

/** One rollout of the first example, or of the first that the shuffle draws; without a folder. */
function onlyOne(wish: EvalWish): EvalWish {
  const only = { num_examples: 1, rollouts_per_example: 1, max_concurrent: 1, no_save: true, verbose: true, state_columns: [TURNS_COLUMN] };
  return { ...wish, given: { ...wish.given, ...only } };
}

async function report({ evaluation }: PlayedRun, log: TryLog, { terminal, full }: TryCommand, rows: string): Promise<ExitCode> {
  const line = rows.split("\n", 1)[0] ?? "";
  if (line === "") {
    for (const text of log.printed) terminal.print(singleLine(text));
    for (const text of failureLines(evaluation).slice(0, 1)) terminal.tell(printable(text));
    return EXIT.failed;
  }
  const row = parseOutput(line);
  const turns = (Array.isArray(row[TURNS_COLUMN]) ? row[TURNS_COLUMN] : []) as readonly TurnFacts[];
  const weights = evaluation.metadata.reward_weights ?? {};
  terminal.print(`Example ${row.example_id ?? 0} of ${singleLine(evaluation.metadata.env_id)} with ${singleLine(evaluation.metadata.model)}`);
  for (const text of rolloutLines({ row, turns, weights, printed: log.printed, limit: full ? null : SHOWN })) terminal.print(text);
  return row.error === null || row.error === undefined ? EXIT.completed : EXIT.failed;
}

/** Keeps what the environment printed for its place in the report; what is wrong meanwhile is told at once. */
class TryLog implements RunProgress {
  readonly printed: string[] = [];
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  log(event: Parameters<RunProgress["log"]>[0]): void {
    const line = toldLine(event);
    if (isEnvironmentLine(event.message)) this.printed.push(`${event.level} ${event.message}`);
    // Of one rollout the report has the error itself.
    else if (line !== null && event.level === "WARNING") this.#terminal.tell(line);
  }

  note(line: string): void {
    if (line.startsWith("warning:")) this.#terminal.tell(line);
  }

  started(): void {}
  update(): void {}
  ended(): void {}
}
