/** `edgewise env list`: what can be run here, with arguments and defaults, and what is published where the service has it. */
import { DATASET_ARGS } from "../../datasets/spec.ts";
import { singleLine } from "../../report/text/printable.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import { argumentLine } from "../environments/argument-line.ts";
import { type KnownEnvironment, servedEnvironments } from "../environments/local-environments.ts";
import type { LinkAnswer } from "../links/link-answers.ts";
import { listLinks } from "../links/link-client.ts";
import { linkLines } from "../links/link-lines.ts";
import { type PythonPlace, pythonPlacesIn } from "../python/find-python.ts";
import { askService, hasState } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { ListedEnvironment } from "./published-answers.ts";

export interface EnvListOptions {
  readonly envDir: string;
  readonly output: "table" | "json";
}

export async function envList(context: CommandContext, { envDir, output }: EnvListOptions): Promise<ExitCode> {
  const { cwd, terminal } = context;
  const { environments: known } = await servedEnvironments([], cwd, envDir);
  const pythons = pythonPlacesIn(cwd, envDir);
  const environments = known.filter(({ id, file }) => file !== null || !pythons.some((python) => python.id === id));
  const { published, linked } = await atService(context);
  if (output === "json") {
    const own = environments.map(({ file, ...facts }) => ({ ...facts, path: file?.entry ?? null }));
    const others = published.map(({ owner, name, latest_version: version, description, visibility, updated_at }) => ({
      ...{ id: `${owner.name}/${name}`, version, description, path: null, published: { visibility, updated_at } },
    }));
    const elsewhere = linked.map(({ name, version, description, defaults, keys, args, ...link }) => ({
      ...{ id: name, version, description, defaults, keys, args, path: null },
      linked: { urls: link.urls, environment: link.environment, digest: link.digest, linked_at: link.linked_at, lease_until: link.lease_until },
    }));
    terminal.print(JSON.stringify([...own, ...pythons.map(pythonFacts), ...elsewhere, ...others]));
    return EXIT.completed;
  }
  for (const environment of environments) for (const line of linesOf(environment, cwd)) terminal.print(line);
  for (const place of pythons) for (const line of pythonLines(place, cwd)) terminal.print(line);
  for (const link of linked) for (const line of [...linkLines(link), ""]) terminal.print(line);
  for (const environment of published) for (const line of publishedLines(environment)) terminal.print(line);
  terminal.print(`Every environment also takes ${Object.keys(DATASET_ARGS).join(", ")}.`);
  return EXIT.completed;
}

/** What is known of one in Python without running its code: its arguments are not. */
const pythonFacts = ({ id, target, project }: PythonPlace) => ({
  id,
  version: project?.version ?? "0",
  description: project?.description ?? null,
  defaults: project?.defaults ?? {},
  keys: project?.variables ?? [],
  path: target,
  language: "python",
});

function pythonLines(place: PythonPlace, cwd: string): readonly string[] {
  const { path, description, ...facts } = pythonFacts(place);
  const [, said = "", ...rest] = linesOf({ ...facts, description: description ?? "", args: [], file: null }, cwd);
  return [`${facts.id} ${facts.version} (${shortPath(path, cwd)}, in Python)`, ...(description === null ? [] : [said]), ...rest];
}

/** In one answer. */
const LISTED = 1_000;

interface AtService {
  readonly published: readonly ListedEnvironment[];
  readonly linked: readonly LinkAnswer[];
}

/** What is published and linked at the service of this folder, if there ever was one. A service that cannot be asked keeps nobody from seeing the others. */
async function atService(context: CommandContext): Promise<AtService> {
  if (!hasState(context)) return { published: [], linked: [] };
  const ask = askService(context, "edgewise env list", async ({ client }) => {
    const found: ListedEnvironment[] = [];
    for (let there = 1; found.length < there; ) {
      const path = `/environmentshub/?limit=${LISTED}&offset=${found.length}&sort_by=name&sort_order=asc`;
      const { data, total_count } = await client.json<{ data: readonly ListedEnvironment[]; total_count: number }>("GET", path, { retries: 2 });
      found.push(...data);
      // Others may have been deleted meanwhile.
      there = data.length === 0 ? 0 : total_count;
    }
    return { published: found.filter(({ bundled }) => !bundled), linked: await listLinks(client) };
  });
  try {
    return await ask;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.terminal.tell(`Published and linked environments are not shown: ${error.message}`);
    return { published: [], linked: [] };
  }
}

const publishedLines = ({ owner, name, latest_version, visibility, description }: ListedEnvironment): readonly string[] => [
  `${singleLine(`${owner.name}/${name}`)} ${singleLine(latest_version)} (published, ${visibility === "PUBLIC" ? "for everybody" : "for its team"})`,
  `  ${singleLine(description)}`,
  "",
];

function linesOf({ id, version, description, defaults, keys, hosts = [], args, file }: KnownEnvironment, cwd: string): readonly string[] {
  const { num_examples, rollouts_per_example } = defaults;
  const usual = [...(num_examples === undefined ? [] : [`-n ${num_examples}`]), ...(rollouts_per_example === undefined ? [] : [`-r ${rollouts_per_example}`])];
  return [
    `${id} ${version}${file === null ? "" : ` (${shortPath(file.entry, cwd)})`}`,
    `  ${singleLine(description)}`,
    ...(usual.length === 0 ? [] : [`  by default ${usual.join(" ")}`]),
    ...(keys.length === 0 ? [] : [`  needs ${keys.join(", ")}`]),
    ...(hosts.length === 0 ? [] : [`  sends requests to ${hosts.join(", ")}`]),
    ...args.map(argumentLine),
    "",
  ];
}
