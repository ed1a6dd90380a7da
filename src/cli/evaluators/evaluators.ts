/** `edgewise evaluator run | pause | resume | list | show | follow | delete`: evaluations from a training loop. */
import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { EVALUATOR_NAME_RULE, isEvaluatorName } from "../../training/definition.ts";
import type { Sink } from "../../training/sink.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { evaluatorPath, type ListedEvaluator, type ListedPoint, type PointsPage, type PostedAnswer, type ShownEvaluator } from "./evaluator-answer.ts";
import { evaluatorLines, listLines, postedLines } from "./evaluator-lines.ts";
import { JsonlSink } from "./jsonl-sink.ts";

export interface EvaluatorWish {
  readonly team?: string | undefined;
  readonly output: Output;
}
type Named = EvaluatorWish & { readonly name: string };
interface Answer {
  readonly data: ShownEvaluator;
}

export function mustBeName(name: string): void {
  if (!isEvaluatorName(name)) throw usageError(`${JSON.stringify(name)} is no name of an evaluator: it ${EVALUATOR_NAME_RULE}`);
}

/** Where nobody serves nothing is evaluated; said once to who has just asked for it. */
export function unserved({ terminal }: CommandContext, evaluators: readonly Pick<ListedEvaluator, "served">[]): void {
  if (evaluators.some(({ served }) => !served)) terminal.tell("No service runs in this folder: steps are evaluated while `npx edgewise serve` runs.");
}

export interface StepWish extends Named {
  readonly step: number;
  readonly model: string;
  readonly baseUrl?: string | undefined;
  readonly keyVar?: string | undefined;
  readonly final: boolean;
  readonly now: boolean;
}

export async function evaluatorRun(context: CommandContext, { name, team, output, step, model, baseUrl, keyVar, final, now }: StepWish): Promise<ExitCode> {
  mustBeName(name);
  const body = {
    step,
    model,
    ...(baseUrl === undefined ? {} : { api_base_url: baseUrl }),
    ...(keyVar === undefined ? {} : { api_key_var: keyVar }),
    ...(final ? { final } : {}),
    ...(now ? { now } : {}),
  };
  const answer = await askService(context, "edgewise evaluator run", ({ client }) =>
    client.json<{ data: PostedAnswer }>("POST", evaluatorPath(name, team, "/steps"), { body, retries: 2 }),
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else for (const line of postedLines(answer.data)) context.terminal.print(line);
  unserved(context, [answer.data]);
  return EXIT.completed;
}

export const evaluatorPause = (context: CommandContext, { reason, ...wish }: Named & { readonly reason?: string | undefined }): Promise<ExitCode> =>
  changed(
    context,
    wish,
    "pause",
    reason === undefined ? {} : { reason },
    `Evaluator ${wish.name} is paused: steps are passed over, and what is at work goes on.`,
  );

export const evaluatorResume = (context: CommandContext, wish: Named): Promise<ExitCode> =>
  changed(context, wish, "resume", {}, `Evaluator ${wish.name} goes on; steps that were passed over may be posted again.`);

async function changed(
  context: CommandContext,
  { name, team, output }: Named,
  change: "pause" | "resume",
  body: Readonly<Record<string, string>>,
  said: string,
): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, `edgewise evaluator ${change}`, ({ client }) =>
    client.json<Answer>("POST", evaluatorPath(name, team, `/${change}`), { body, retries: 2 }),
  );
  context.terminal.print(output === "json" ? printableJson(answer, 2) : said);
  return EXIT.completed;
}

export async function evaluatorList(context: CommandContext, { team, output }: EvaluatorWish): Promise<ExitCode> {
  const answer = await askService(context, "edgewise evaluator list", ({ client }) =>
    client.json<{ data: readonly ListedEvaluator[] }>("GET", evaluatorPath(null, team), { retries: 2 }),
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else if (answer.data.length === 0) context.terminal.tell("There are no evaluators. They are made by `npx edgewise evaluator apply FILE.toml`.");
  else for (const line of listLines(answer.data, context.terminal.columns)) context.terminal.print(line);
  unserved(context, answer.data);
  return EXIT.completed;
}

/** `sink`: a file that its points are written to beside it. */
export async function evaluatorShow(context: CommandContext, { name, team, output, sink }: Named & { readonly sink?: string | undefined }): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise evaluator show", async ({ client }) => {
    if (sink !== undefined) await postAll(client, { name, team }, new JsonlSink(resolve(context.cwd, sink), sink), 0);
    return client.json<Answer>("GET", evaluatorPath(name, team), { retries: 2 });
  });
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else for (const line of evaluatorLines(answer.data, context.terminal.columns)) context.terminal.print(line);
  unserved(context, [answer.data]);
  return EXIT.completed;
}

/** Whatever is behind `after`; where the next question begins, and how many evaluations are not finished. */
async function postAll(
  client: ServiceClient,
  { name, team }: { readonly name: string; readonly team: string | undefined },
  sink: Sink<ListedPoint>,
  after: number,
): Promise<{ readonly after: number; readonly open: number }> {
  let from = after;
  for (;;) {
    const page = await client.json<PointsPage>("GET", evaluatorPath(name, team, "/points", { after: String(from) }), { retries: 2 });
    await sink.post(page.data);
    from = page.next;
    if (!page.more) return { after: from, open: page.open };
  }
}

/** Between two looks, in milliseconds. */
const LOOK_MS = 2_000;

/** Its points as they are known, to the terminal or a file. `untilIdle`: until nothing is unfinished; else until it is interrupted. */
export async function evaluatorFollow(
  context: CommandContext,
  { name, team, sink, untilIdle }: Pick<Named, "name" | "team"> & { readonly sink?: string | undefined; readonly untilIdle: boolean },
): Promise<ExitCode> {
  mustBeName(name);
  const printed: Sink<ListedPoint> = {
    post: async (points) => {
      for (const point of points) context.terminal.print(JSON.stringify(point));
    },
  };
  const into = sink === undefined ? printed : new JsonlSink(resolve(context.cwd, sink), sink);
  await askService(context, "edgewise evaluator follow", async ({ client }) => {
    unserved(context, [(await client.json<Answer>("GET", evaluatorPath(name, team, "", { limit: "1" }), { retries: 2 })).data]);
    let seen = { after: 0, open: 1 };
    for (;;) {
      seen = await postAll(client, { name, team }, into, seen.after);
      if (untilIdle && seen.open === 0) return;
      await wait(LOOK_MS);
    }
  });
  return EXIT.completed;
}

export async function evaluatorDelete(context: CommandContext, { name, team, output }: Named): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise evaluator delete", ({ client }) => client.json<{ message: string }>("DELETE", evaluatorPath(name, team)));
  context.terminal.print(output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}
