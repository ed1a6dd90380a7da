/** `edgewise rescore RUN|FOLDER`: its rollouts scored again, as a run of its own. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { quoted } from "../../report/text/shell-word.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import { evalRun } from "../eval-run/eval-run.ts";
import type { EvalWish, RescoreWish } from "../eval-run/wish/eval-wish.ts";
import { evalWishes } from "../eval-run/wish/eval-wishes.ts";
import { unnamedUrls } from "../eval-run/wish/unnamed-places.ts";
import { withRuns } from "../exports/open-runs.ts";
import { linkedNames } from "../links/links.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { type RescoreSource, sourceOf } from "./source.ts";
import { type SpooledRows, spoolRows } from "./spooled-rows.ts";

export interface RescoreTyped {
  /** Run id, folder or export. */
  readonly source: string;
  /** Null: the one that made the rows. */
  readonly env: string | null;
  readonly rubric?: string;
  readonly errors_only?: boolean;
  readonly examples?: "data" | "rows";
  readonly given: GivenOptions;
}

export async function rescore(context: CommandContext, typed: RescoreTyped): Promise<ExitCode> {
  const { terminal, cwd } = context;
  const isFolder = existsSync(resolve(cwd, typed.source));
  const { source, rows } = await openedSource(context, typed.source, isFolder);
  try {
    const sized = rows === null || source.given.rollouts_per_example !== undefined ? {} : { rollouts_per_example: rows.attempts };
    const { warnings, ...wishes } = await evalWishes(
      typed.env ?? source.facts.env_id,
      { ...source.given, ...sized, ...typed.given },
      {
        ...context,
        linkedNames: () => linkedNames(context),
      },
    );
    for (const warning of warnings) terminal.tell(`warning: ${warning}`);
    const evals = wishes.evals.map((wish) => ofSource(wish, typed, source, rows));
    if (evals.length !== 1) throw usageError("--env: name one environment", "Score by one after the other.");
    return await evalRun({ ...context, ...wishes, evals });
  } finally {
    rows?.remove();
  }
}

async function openedSource(context: CommandContext, named: string, isFolder: boolean): Promise<{ source: RescoreSource; rows: SpooledRows | null }> {
  return await withRuns(context, "edgewise rescore", { named: [named], partial: false, exports: true }, async ([run, ...others]) => {
    if (run === undefined || others.length > 0) throw usageError(`there are several runs in ${named}`, "Name one of them: its results folder, or its run id.");
    for (const note of run.notes) context.terminal.tell(note);
    if (!isFolder) {
      if (run.bytes === null)
        throw new CliError(`run ${named} has not ended`, { exitCode: EXIT.usage, hints: ["Go on with it, or stop it; then score it again."] });
      return { source: sourceOf(run), rows: null };
    }
    return { source: sourceOf(run), rows: await spoolRows(run) };
  });
}

/** The environment's arguments are the source's, where it is the environment that made the rows and nobody says otherwise. */
function ofSource(wish: EvalWish, typed: RescoreTyped, source: RescoreSource, rows: SpooledRows | null): EvalWish {
  const { facts, env_digest, rows_sha256, extra_env_kwargs, shape } = source;
  const isSame = wish.envId === facts.env_id;
  if (isSame && rows !== null && typed.given.env_args === undefined) {
    const [url] = unnamedUrls(facts.env_args);
    if (url !== undefined)
      throw new CliError(`${typed.source} names an address that this command does not: env_args ${url}`, {
        exitCode: EXIT.usage,
        hints: [`Keys of this machine would be sent there. If that is meant, name it: -a ${quoted(JSON.stringify(facts.env_args))}`],
      });
  }
  const own: GivenOptions = isSame
    ? {
        env_args: typed.given.env_args ?? facts.env_args,
        ...(Object.keys(extra_env_kwargs).length === 0 && typed.given.extra_env_kwargs === undefined
          ? {}
          : { extra_env_kwargs: typed.given.extra_env_kwargs ?? extra_env_kwargs }),
      }
    : {};
  const { rubric, errors_only, examples } = typed;
  const rescore: RescoreWish = {
    folder: rows === null ? null : typed.source,
    rows: rows?.index ?? null,
    fields: {
      ...(rows === null
        ? { run_id: typed.source }
        : { source: { run_id: facts.run_id, env_id: facts.env_id, env_digest, rows_sha256 }, ...(shape === "0.1.13" ? {} : { results_shape: shape }) }),
      ...(rubric === undefined ? {} : { rubric }),
      ...(errors_only === true ? { errors_only } : {}),
      ...(examples === undefined ? {} : { examples }),
    },
  };
  return { ...wish, given: { ...wish.given, ...own }, rescore };
}
