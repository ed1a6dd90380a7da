/**
 * Addresses that a results folder brings and the command line does not name. A folder may come from anybody, and a run of this machine sends the
 * keys of its surroundings wherever it is told to; so such an address is agreed to once, before the folder becomes a run. What belongs together
 * by itself needs no word: this machine, the address where nobody names one, a provider with its own key, and what `KEY_VARS` binds.
 */
import { isLoopbackHost, parseUrl } from "../../../config/endpoints/addresses.ts";
import type { ReplicaBody } from "../../../config/endpoints/endpoint-choice.ts";
import { DEFAULT_KEY_VARS, isProviderAddress, keyPlaceProblem } from "../../../config/endpoints/key-vars.ts";
import { OPTIONS } from "../../../config/options/options.ts";
import type { GivenOptions } from "../../command-line/flags.ts";
import { quoted } from "../../../report/text/shell-word.ts";
import type { ServiceClient } from "../../connection/http-client.ts";
import { type FolderMetadata, type FoundFolder, namedFolder } from "../../results/resume-folder.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { isFailedTakeOver, knownRun } from "./run-wish.ts";

/** One address, where it stands in the folder, and what names it on a command line. */
export interface UnnamedPlace {
  readonly field: "base_url" | "env_args";
  readonly address: string;
  readonly flag: string;
}

interface Asked {
  readonly given: GivenOptions;
  readonly replicas?: readonly ReplicaBody[];
}

export function unnamedPlaces({ given, replicas = [] }: Asked, { base_url, env_args }: FolderMetadata, keyVars: string | undefined): readonly UnnamedPlace[] {
  const places: UnnamedPlace[] = [];
  const [address = ""] = base_url.split(",");
  if (given.api_base_url === undefined && replicas.length === 0 && !isAtHome(address, given, keyVars)) {
    places.push({ field: "base_url", address, flag: `-b ${quoted(address)}` });
  }
  if (given.env_args !== undefined) return places;
  const named = unnamedUrls(env_args);
  return [...places, ...named.map((url) => ({ field: "env_args" as const, address: url, flag: `-a ${quoted(JSON.stringify(env_args))}` }))];
}

function isAtHome(address: string, { api_key_var = OPTIONS.api_key_var.default }: GivenOptions, keyVars = DEFAULT_KEY_VARS): boolean {
  const host = parseUrl(address)?.hostname;
  if (host === undefined || isLoopbackHost(host)) return true;
  const own = { baseUrl: OPTIONS.api_base_url.default, keyVar: OPTIONS.api_key_var.default };
  return keyPlaceProblem({ ...own, keyVars, local: false }, api_key_var, address) === null;
}

/** Of arguments that nobody typed, those at which a key of this machine has no business by itself. */
export const unnamedUrls = (args: unknown): readonly string[] =>
  urlsIn(args).filter((url) => !isLoopbackHost(parseUrl(url)?.hostname ?? "") && !isProviderAddress(url));

/** At any depth: environments may call a model of their own at an address among their arguments. */
function urlsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return /^\s*https?:/i.test(value) ? [value.trim()] : [];
  return value === null || typeof value !== "object" ? [] : Object.values(value).flatMap(urlsIn);
}

/** What to say of them where nobody can be asked, or said no. */
export function notAgreed(path: string, places: readonly UnnamedPlace[]): CliError {
  const told = places.map(({ field, address }) => `${field} ${address}`).join(", ");
  return new CliError(`-R/--resume: ${path} names an address that this command does not: ${told}`, {
    exitCode: 2,
    hints: [`Keys of this machine would be sent there. If that is meant, name it: ${[...new Set(places.map(({ flag }) => flag))].join(" ")}`],
  });
}

/**
 * Asks about the folder that `-R` names where it will become a run: one whose run the service knows goes on where that run was. True: agreed to,
 * or nothing to agree to. `ask` is null where nobody sits at a terminal.
 */
export async function agreedFolder(
  client: ServiceClient,
  asked: Asked,
  { cwd, keyVars, ask }: { readonly cwd: string; readonly keyVars: string | undefined; readonly ask: ((question: string) => Promise<boolean>) | null },
): Promise<string | null> {
  const found = typeof asked.given.resume === "string" ? namedFolder(asked.given.resume, cwd) : null;
  if (found === null || !("path" in found) || found.metadata === null) return null;
  const places = unnamedPlaces(asked, found.metadata, keyVars);
  if (places.length === 0 || (await goesOnElsewhere(client, found))) return null;
  const told = places.map(({ field, address }) => `  ${field}: ${address}`).join("\n");
  const question = `${found.path} names an address that this command does not:\n${told}\nSend requests and keys of this machine there? [y/N] `;
  if (ask === null || !(await ask(question))) throw notAgreed(found.path, places);
  return found.path;
}

async function goesOnElsewhere(client: ServiceClient, { runId }: FoundFolder): Promise<boolean> {
  const known = runId === null ? null : await knownRun(client, runId);
  return known !== null && !isFailedTakeOver(known);
}
