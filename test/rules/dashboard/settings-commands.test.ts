import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { budgetCommand } from "../../../src/cli/commands/budget-command.ts";
import { baselineCommand } from "../../../src/cli/commands/comparison/baseline-command.ts";
import { endpointCommand } from "../../../src/cli/commands/endpoint-command.ts";
import { envCommand } from "../../../src/cli/commands/env-command.ts";
import { limitsCommand } from "../../../src/cli/commands/limits-command.ts";
import { teamCommand } from "../../../src/cli/commands/people-commands.ts";
import { ADD_ENDPOINT, CREATE_TEAM, createForEnvironment, SET_BASELINE, SET_BUDGET, SET_LIMIT } from "../../../src/dashboard/pages/settings/commands.ts";

/** What the command line's own parser makes of a command: the words that are its names, and those that it does not know. */
function parsed(text: string): { readonly names: readonly string[]; readonly unknown: readonly string[] } {
  const program = new Command("edgewise");
  for (const make of [budgetCommand, baselineCommand, endpointCommand, envCommand, limitsCommand, teamCommand])
    program.addCommand(make({} as never, () => undefined));
  let [command, words] = [program as Command, text.replace(/^npx edgewise /, "").split(" ")];
  for (let next = command; next !== undefined; ) {
    const found = command.commands.find((each) => each.name() === words[0]);
    if (found === undefined) break;
    [command, next, words] = [found, found, words.slice(1)];
  }
  const { operands, unknown } = command.parseOptions(words);
  const needed = command.registeredArguments.filter(({ required }) => required).length;
  if (command.commands.length > 0 || operands.length < needed) throw new Error(`${text} is no whole command`);
  return { names: operands, unknown };
}

describe("the commands that empty lists of the settings show", () => {
  it("are whole ones that the command line takes, and no way to its help", () => {
    for (const text of [
      ADD_ENDPOINT,
      SET_LIMIT,
      SET_BUDGET,
      SET_BASELINE,
      CREATE_TEAM,
      createForEnvironment("secret", "acme/wiki"),
      createForEnvironment("var", "wiki"),
    ]) {
      expect(text).not.toContain("--help");
      expect(parsed(text).unknown, text).toEqual([]);
    }
    expect(() => parsed("npx edgewise limits set --help")).toThrow();
  });

  it("name an environment only as a terminal takes it", () => {
    expect(parsed(createForEnvironment("var", "acme/wiki")).names).toEqual(["acme/wiki", "NAME"]);
    expect(createForEnvironment("secret", "$(rm -rf)")).toBe("npx edgewise env secret create '$(rm -rf)' NAME");
    for (const hostile of ["a\u0015b", "--team", "\u202e"])
      expect(createForEnvironment("secret", hostile)).toBe("npx edgewise env secret create OWNER/NAME NAME");
  });
});
