/** `budget`: what a team, and whoever uses a key, may spend. */
import { Command, Option } from "commander";
import { type KeptLimits, keptLimits } from "../../budgets/kept-limits.ts";
import { issueText } from "../../config/issue-text.ts";
import { isKeyVariable } from "../../config/endpoints/secrets.ts";
import type { BudgetWish } from "../budgets/budgets.ts";
import type { CommandContext } from "../service/command-context.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import { mustBeNone, outputOption, slugOf } from "./shared-flags.ts";

const EXAMPLE = "For example: npx edgewise budget set --day 20 --month 200, or of one key: --key OPENAI_API_KEY --month 100";

export function budgetCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const budget = new Command("budget").description("what the runs of a team, or all that use a key, may spend per day and month (UTC), and what they did");
  const command = (name: string, description: string, options: { isDefault?: boolean } = {}): Command =>
    budget.command(name, options).description(description).addOption(teamOption()).addOption(outputOption());
  const named = (name: string, description: string): Command =>
    command(name, description)
      .addOption(new Option("-k, --key <NAME>", "of the key of this variable; without it of the team").argParser(keyOf))
      .addOption(new Option("--all-teams", "of the key for every team that uses it; for the owner of the service alone"));
  command("list", "show each budget, and what is spent of it (what `budget` alone does)", { isDefault: true })
    .alias("ls")
    .allowExcessArguments()
    .action(async (flags: BudgetWish, { args }: Command) => {
      mustBeNone(args, budget);
      const { budgetList } = await import("../budgets/budgets.ts");
      done(await budgetList(context, flags));
    });
  named("set", "set a budget: runs that are made or resumed from then on keep to it together; a larger or smaller one holds for those at work too")
    .addOption(new Option("--day <DOLLARS>", "what may be spent per day").argParser(dollarsOf("--day")))
    .addOption(new Option("--month <DOLLARS>", "what may be spent per calendar month").argParser(dollarsOf("--month")))
    .action(async ({ day, month, ...wish }: BudgetWish & { readonly day?: number; readonly month?: number }) => {
      mustBeOne("set", wish);
      const { budgetSet } = await import("../budgets/budgets.ts");
      done(await budgetSet(context, { ...wish, limits: limitsOf({ ...(day === undefined ? {} : { day }), ...(month === undefined ? {} : { month }) }) }));
    });
  named("clear", "limit by a budget no more").action(async (wish: BudgetWish) => {
    mustBeOne("clear", wish);
    const { budgetClear } = await import("../budgets/budgets.ts");
    done(await budgetClear(context, wish));
  });
  return budget;
}

const teamOption = (): Option => new Option("--team <TEAM>", "of this team").argParser(slugOf("--team"));

function mustBeOne(command: string, { team, key, allTeams }: BudgetWish): void {
  if (allTeams !== true) return;
  if (key === undefined) throw usageError(`budget ${command}: --all-teams is of a key, and --key names none`, EXAMPLE);
  if (team !== undefined) throw usageError(`budget ${command}: --all-teams and --team say two things: leave out one of them`);
}

const keyOf = (text: string): string => {
  if (isKeyVariable(text)) return text;
  throw usageError(`--key: ${JSON.stringify(text)} must be the name of a variable that holds a key, never the key: capitals, digits and _`);
};

const dollarsOf =
  (flag: string) =>
  (text: string): number => {
    if (/^\$?\d{1,7}(\.\d{1,9})?$/.test(text)) return Number(text.replace("$", ""));
    throw usageError(`${flag}: must be dollars, such as 20 or 0.50, not ${JSON.stringify(text)}`);
  };

/** Checked as the service does. */
function limitsOf(given: KeptLimits): KeptLimits {
  const parsed = keptLimits.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw usageError(`budget set: ${issue === undefined ? "" : `--${issue.path.join("-")} ${issueText(issue)}`}`, EXAMPLE);
}
