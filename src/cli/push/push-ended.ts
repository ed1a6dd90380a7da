/** `eval run -H`: the results folders of runs that have ended, on their way to the Hub. What happens here changes nothing of the run. */
import { hubTarget } from "../../config/hub-name.ts";
import type { HUB_OPTIONS } from "../../config/options/hub-options.ts";
import { quoted } from "../../report/text/shell-word.ts";
import { flagName, type GivenOptions } from "../command-line/flags.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, reasonOf, usageError } from "../terminal/cli-error.ts";
import { hubPlace } from "./hub-place.ts";
import { pushedLines } from "./pushed-lines.ts";

export type HubOptions = Pick<GivenOptions, keyof typeof HUB_OPTIONS | "no_save" | "hosted">;

/** A run that has ended. */
export interface EndedRun {
  readonly given: HubOptions;
  /** Its results folder; null where none is kept. */
  readonly folder: string | null;
  readonly completed: boolean;
}

/** Refuses flags that would have no effect. `typed`: on the command line; `evals`: with what a file says. */
export function checkHubFlags(typed: HubOptions, evals: readonly { readonly given: HubOptions }[]): void {
  const pushes = evals.filter(({ given }) => given.save_to_hf_hub === true);
  const alone = (["hf_hub_dataset_name", "hf_hub_public"] as const).find((name) => typed[name] !== undefined);
  if (pushes.length === 0 && alone !== undefined) throw usageError(`${flagName(alone)} has no effect without ${flagName("save_to_hf_hub")}`);
  if (typed.hosted !== true && pushes.some(({ given }) => given.no_save === true))
    throw usageError(`${flagName("save_to_hf_hub")} pushes the results folder, and none is to be saved`, "Leave out --no-save, and save_results = false.");
}

/** Refuses what could not be pushed in the end before anything is spent on it. */
export function checkHubToken(context: Pick<CommandContext, "env" | "cwd" | "home">, evals: readonly { readonly given: HubOptions }[]): void {
  if (evals.some(({ given }) => given.save_to_hf_hub === true && given.hosted !== true)) hubPlace(context);
}

/** Pushes one run and tells what came of it. Throws nothing. */
export async function pushEnded(context: CommandContext, { given, folder, completed }: EndedRun): Promise<void> {
  if (given.save_to_hf_hub !== true || given.hosted === true) return;
  const { terminal, cwd } = context;
  const name = given.hf_hub_dataset_name ?? "";
  const visibility = given.hf_hub_public === true ? "public" : "private";
  const again =
    folder === null ? null : `npx edgewise push ${quoted(shortPath(folder, cwd))} --to ${quoted(`hf:${name}`)}${visibility === "public" ? " --public" : ""}`;
  if (folder === null || !completed) {
    terminal.tell("Not pushed to the Hugging Face Hub: the run did not complete.");
    if (again !== null) terminal.tell(`  As it is: ${again}`);
    return;
  }
  try {
    const target = hubTarget(name);
    if (!target.ok) throw usageError(target.error.message);
    // Most runs are pushed nowhere, and begin without this.
    const [{ openFolder }, { pushOpened }] = await Promise.all([import("../exports/open-folder.ts"), import("./push-opened.ts")]);
    const run = await openFolder(folder, shortPath(folder, cwd), false);
    const pushed = await pushOpened(hubPlace(context), [run], { target: target.value, visibility, config: null, tell: (line) => terminal.tell(line) });
    for (const line of pushedLines(pushed, visibility)) terminal.print(line);
  } catch (error) {
    terminal.tell(`warning: the run is complete, and was not pushed to the Hugging Face Hub: ${reasonOf(error)}`);
    for (const hint of error instanceof CliError ? error.hints : []) terminal.tell(`  ${hint}`);
    terminal.tell(`  Push it: ${again}`);
  }
}
