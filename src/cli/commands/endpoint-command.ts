/** `endpoint`: what a team calls its models by. */
import { Command, Option } from "commander";
import { OPTIONS } from "../../config/options/options.ts";
import { CLIENT_TYPES } from "../../config/plan/run-config.ts";
import type { Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import { outputOption, slugOf } from "./shared-flags.ts";

interface AddFlags {
  readonly model?: string;
  readonly apiBaseUrl?: string;
  readonly apiKeyVar?: string;
  readonly apiClientType?: string;
  readonly header?: Record<string, string>;
  readonly replace?: boolean;
  readonly team?: string;
  readonly output: Output;
}

export function endpointCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const endpoint = new Command("endpoint").description("endpoints that the service keeps for a team: a run names one as its model (-m ID), or as endpoint_id");
  endpoint
    .command("add")
    .description("add an endpoint; another address under the same id is a replica")
    .argument("<id>", "what runs call it by; or a file such as endpoints.toml, all of whose entries are added")
    .addOption(new Option("-m, --model <MODEL>", OPTIONS.model.help))
    .addOption(new Option("-b, --api-base-url <URL>", "address of the model server"))
    .addOption(new Option("-k, --api-key-var <NAME>", "name of the key: a variable or secret of the service, never the key"))
    .addOption(new Option("--api-client-type <TYPE>", "how it is talked to").choices(CLIENT_TYPES))
    .addOption(new Option("--header <'NAME: VALUE'>", "sent with every request; may be given again; no credentials").argParser(headerOf))
    .addOption(new Option("--replace", "put it in the place of what the id has, with all its replicas"))
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (named: string, flags: AddFlags) => {
      const { endpointAdd } = await import("../endpoints/endpoints.ts");
      const { model, apiBaseUrl: url, apiKeyVar: key, apiClientType: type, header: headers = {}, replace = false, team, output } = flags;
      done(await endpointAdd(context, { named, model, url, key, type, headers, replace, team, output }));
    });
  endpoint
    .command("list")
    .alias("ls")
    .description("show the endpoints of a team")
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (flags: { team?: string; output: Output }) => {
      const { endpointList } = await import("../endpoints/endpoints.ts");
      done(await endpointList(context, flags));
    });
  endpoint
    .command("get")
    .description("show one endpoint with its replicas")
    .argument("<id>", "the endpoint")
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (id: string, flags: { team?: string; output: Output }) => {
      const { endpointGet } = await import("../endpoints/endpoints.ts");
      done(await endpointGet(context, { id, ...flags }));
    });
  endpoint
    .command("delete")
    .description("delete an endpoint with its replicas; runs that were made with it keep what it named")
    .argument("<id>", "the endpoint")
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (id: string, flags: { team?: string; output: Output }) => {
      const { endpointDelete } = await import("../endpoints/endpoints.ts");
      done(await endpointDelete(context, { id, ...flags }));
    });
  return endpoint;
}

const teamOption = (): Option => new Option("--team <TEAM>", "of this team").argParser(slugOf("--team"));

function headerOf(text: string, before: Record<string, string> = {}): Record<string, string> {
  const colon = text.indexOf(":");
  if (colon < 1) throw usageError(`--header: must be of the form 'NAME: VALUE', not ${JSON.stringify(text)}`);
  return { ...before, [text.slice(0, colon).trim()]: text.slice(colon + 1).trim() };
}
