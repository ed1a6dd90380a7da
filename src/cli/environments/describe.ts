/** What environments of this machine say of themselves, asked in processes of their own: their code sees no key, no state and not each other. */
import { z } from "zod";
import { issueText } from "../../config/issue-text.ts";
import type { EnvironmentFacts } from "../../environments/definition/describe.ts";
import { FACTS_SCHEMA } from "../../environments/definition/facts-schema.ts";
import { knowSources, ownFrame } from "../../errors/own-frames.ts";
import { singleLine } from "../../report/text/printable.ts";
import { CliError, EXIT, reasonOf } from "../terminal/cli-error.ts";
import { type DescribedModule, type EnvironmentModule, scriptOf } from "./bundle.ts";
import { describer, type Ended, runConfined } from "./describer.ts";

/** Processes at once: each takes a core for some 200 ms. */
const AT_ONCE = 4;

const ANSWER = z.union([z.object({ facts: z.unknown() }), z.object({ text: z.string(), stack: z.string() })]);

/** Modules in order, each with its facts. Throws a usage error with what a module's code threw. */
export async function describeModules(modules: readonly EnvironmentModule[]): Promise<readonly DescribedModule[]> {
  const found: DescribedModule[] = [];
  const next = modules.entries();
  const work = async (): Promise<void> => {
    for (const [index, module] of next) found[index] = { module, facts: await described(module, scriptOf(index)) };
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

async function described(module: EnvironmentModule, script: string): Promise<EnvironmentFacts> {
  const ended = await runConfined(describer(module, script));
  const answer = answerOf(ended);
  if (answer === null) throw unloadable(module, reasonOfEnd(ended), ended.error);
  if ("text" in answer) throw unloadable(module, thrownText(answer, module, script), answer);
  const facts = FACTS_SCHEMA.safeParse(answer.facts);
  if (facts.success) return facts.data;
  throw unloadable(module, facts.error.issues.map((issue) => `${issue.path.join(".")} ${issueText(issue)}`).join("; "), facts.error);
}

function answerOf({ error, stdout }: Ended): z.infer<typeof ANSWER> | null {
  if (error !== null) return null;
  try {
    return ANSWER.parse(JSON.parse(stdout));
  } catch {
    // Its code has had the last word instead of ours.
    return null;
  }
}

function reasonOfEnd({ error, stderr }: Ended): string {
  if (error === null) return "it says nothing that could be read";
  return error.killed === true ? "its code did not end within 20 seconds" : (/^(?:\w*Error|Uncaught.*?): .*$/m.exec(stderr)?.[0] ?? reasonOf(error));
}

const MAX_TEXT = 1_000;

/** What the code of a module threw when it was loaded. */
function thrownText(thrown: { readonly text: string; readonly stack: string }, { map }: EnvironmentModule, script: string): string {
  knowSources(script, map);
  const place = ownFrame(thrown);
  return `${singleLine(thrown.text.slice(0, MAX_TEXT))}${place === null ? "" : ` (${place})`}`;
}

const unloadable = ({ entry }: EnvironmentModule, reason: string, cause: unknown): CliError =>
  new CliError(`${entry} cannot be loaded: ${reason}`, {
    exitCode: EXIT.usage,
    hints: ['Its default export must be made by defineEnvironment from "edgewise"; `npx edgewise env init NAME` writes an example.'],
    cause,
  });
