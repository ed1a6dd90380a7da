/** `cache`: the answers that a team's runs have kept. */
import { Command, Option } from "commander";
import type { CacheWish, ClearWish } from "../cache/cache.ts";
import type { CommandContext } from "../service/command-context.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import { mustBeNone, outputOption, slugOf } from "./shared-flags.ts";

export function cacheCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const cache = new Command("cache").description(
    "answers of models that runs have kept (`eval run --cache read-write`): how many there are, and clearing them",
  );
  const command = (name: string, description: string, options: { isDefault?: boolean } = {}): Command =>
    cache
      .command(name, options)
      .description(description)
      .addOption(new Option("--team <TEAM>", "of this team").argParser(slugOf("--team")))
      .addOption(outputOption());
  command("stats", "how many answers are kept, how large and how old they are, and when the next expires (what `cache` alone does)", {
    isDefault: true,
  })
    .allowExcessArguments()
    .action(async (wish: CacheWish, { args }: Command) => {
      mustBeNone(args, cache, "stats");
      const { cacheStats } = await import("../cache/cache.ts");
      done(await cacheStats(context, wish));
    });
  command("clear", "have them forgotten, all or some: runs ask anew from then on")
    .addOption(new Option("-m, --model <MODEL>", "only those of this model, by its name"))
    .addOption(new Option("--older-than-days <N>", "only those that have been kept for so many days or more").argParser(daysOf))
    .addOption(new Option("-y, --yes", "without a question"))
    .action(async (wish: ClearWish) => {
      const { cacheClear } = await import("../cache/cache.ts");
      done(await cacheClear(context, wish));
    });
  return cache;
}

const daysOf = (text: string): number => {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 365) return Number(text);
  throw usageError(`--older-than-days: must be a whole number from 0 to 365, not ${JSON.stringify(text)}`);
};
