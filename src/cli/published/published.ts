/** `edgewise env info | status | versions | pull | visibility | delete`: environments that the service has by name. */
import { createHash } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type PublishedReference, publishedId, publishedReference, type Visibility } from "../../published/published-name.ts";
import { columnLines } from "../../report/text/columns.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { bytesText } from "../../teams/limits.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import { ServiceError, UPLOAD_MS } from "../connection/http-client.ts";
import { makeFolder } from "../disk/files.ts";
import { argumentLine } from "../environments/argument-line.ts";
import { linkedStatus, printLink, printLinkStatus } from "../links/links.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, EXIT, type ExitCode, reasonOf, usageError } from "../terminal/cli-error.ts";
import type { EnvironmentAnswer, VersionAnswer } from "./published-answers.ts";

interface Wish {
  /** `owner/name`, with or without `@version`. */
  readonly reference: string;
  readonly output: Output;
}

/** Throws a usage error for what can be no published environment's name. */
function named(text: string): PublishedReference {
  const found = publishedReference(text);
  if (found !== null) return found;
  throw usageError(
    `${JSON.stringify(text)} is no name of a published environment`,
    "Write OWNER/NAME, or OWNER/NAME@1.2.0; the owner is a team, `edgewise` for the default one. `npx edgewise env list` shows what there is, with the arguments of what is bundled.",
  );
}
/** The same of a whole environment. */
function whole(text: string): PublishedReference {
  const found = named(text);
  if (found.version === null) return found;
  throw usageError(`this is about ${publishedId(found)} with all its versions`, `Leave @${found.version} out.`);
}

const pathOf = (name: PublishedReference, of = ""): string => `/environmentshub/${name.owner}/${encodeURIComponent(name.name)}${of}`;
const versionPath = (name: PublishedReference, of = ""): string => pathOf(name, `/@${name.version ?? "latest"}${of}`);

export async function envInfo(context: CommandContext, { reference, output }: Wish): Promise<ExitCode> {
  const linked = await linkedStatus(context, "edgewise env info", reference);
  if (linked !== null) return printLink(context, linked, output);
  const name = named(reference);
  const { data } = await askService(
    context,
    "edgewise env info",
    ({ client }) => client.json<{ data: EnvironmentAnswer }>("GET", versionPath(name), { retries: 2 }),
    true,
  );
  const { terminal } = context;
  if (output === "json") terminal.print(printableJson({ data }, 2));
  else for (const line of infoLines(data)) terminal.print(line);
  return EXIT.completed;
}

function infoLines({ owner, name, description, visibility, version, latest_version, metadata }: EnvironmentAnswer): readonly string[] {
  const { args = [], keys = [], hosts = [], module, created_by } = metadata;
  const made =
    version.created_at === null ? "comes with the service" : `pushed ${version.created_at.slice(0, 10)}${created_by === undefined ? "" : ` by ${created_by}`}`;
  const newer = version.semantic_version === latest_version.semantic_version ? "the latest version" : `the latest is ${latest_version.semantic_version}`;
  return [
    singleLine(`${owner.name}/${name}@${version.semantic_version}`),
    `  ${singleLine(description)}`,
    `  ${singleLine(`${visibility}, ${made}, ${newer}`)}`,
    `  sha256 ${singleLine(version.content_hash)}${module === undefined ? "" : ` (${bytesText(module.bytes)})`}`,
    ...(keys.length === 0 ? [] : [`  needs ${singleLine(keys.join(", "))}`]),
    ...(hosts.length === 0 ? [] : [`  sends requests to ${singleLine(hosts.join(", "))}`]),
    ...args.map(argumentLine),
  ];
}

export async function envStatus(context: CommandContext, { reference, output }: Wish): Promise<ExitCode> {
  const linked = await linkedStatus(context, "edgewise env status", reference);
  if (linked !== null) return printLinkStatus(context, linked, output);
  const name = whole(reference);
  type Answer = { data: Omit<EnvironmentAnswer, "version" | "metadata"> };
  const answer = await askService(context, "edgewise env status", ({ client }) => client.json<Answer>("GET", pathOf(name, "/status"), { retries: 2 }), true);
  const { owner, description, visibility, latest_version: latest } = answer.data;
  const { terminal } = context;
  if (output === "json") terminal.print(printableJson(answer, 2));
  else {
    terminal.print(
      singleLine(`${owner.name}/${name.name}: ${visibility}, latest version ${latest.semantic_version} (sha256 ${latest.content_hash.slice(0, 12)})`),
    );
    terminal.print(`  ${singleLine(description)}`);
  }
  return EXIT.completed;
}

export async function envVersions(context: CommandContext, { reference, output }: Wish): Promise<ExitCode> {
  const name = whole(reference);
  type Answer = { readonly data: readonly VersionAnswer[] };
  const answer = await askService(
    context,
    "edgewise env versions",
    ({ client }) => client.json<Answer>("GET", pathOf(name, "/versions"), { retries: 2 }),
    true,
  );
  const { terminal } = context;
  if (output === "json") terminal.print(printableJson(answer, 2));
  else {
    const columns = [{ title: "VERSION" }, { title: "PUSHED" }, { title: "BY" }, { title: "SIZE" }, { title: "SHA256", flexible: true }] as const;
    const rows = answer.data.map(({ version, created_at, created_by, bytes, sha256, latest }) =>
      [`${version}${latest ? " (latest)" : ""}`, created_at?.slice(0, 10) ?? "-", created_by ?? "-", bytes === null ? "-" : bytesText(bytes), sha256].map(
        singleLine,
      ),
    );
    for (const line of columnLines(columns, rows, terminal.columns)) terminal.print(line);
  }
  return EXIT.completed;
}

/** Writes code, source map, README and what the service says of it to a folder that is not there. */
export async function envPull(context: CommandContext, { reference, target, output }: Wish & { readonly target?: string | undefined }): Promise<ExitCode> {
  const name = named(reference);
  const { cwd, terminal } = context;
  const pulled = await askService(
    context,
    "edgewise env pull",
    async ({ client }) => {
      const { data } = await client.json<{ data: EnvironmentAnswer }>("GET", versionPath(name), { retries: 2 });
      const { module, source_map, readme } = data.metadata;
      if (module === undefined)
        throw new CliError(`${publishedId(name)} comes with the service: there is no module of it to pull`, {
          hints: [`\`npx edgewise env info ${publishedId(name)}\` shows its arguments.`],
        });
      const exact = { ...name, version: data.version.semantic_version };
      const bytesOf = async (of: string): Promise<Buffer> =>
        Buffer.from(await (await client.call("GET", versionPath(exact, of), { retries: 2, timeoutMs: UPLOAD_MS })).arrayBuffer());
      const code = await bytesOf("/module");
      const digest = createHash("sha256").update(code).digest("hex");
      if (digest !== module.sha256)
        throw new CliError(`the code that came has sha256 ${digest}, and ${module.sha256} was published`, { hints: ["Pull it again."] });
      const map = source_map == null ? null : await bytesOf("/source-map");
      return { data, version: exact.version, code, map, readme: readme == null ? null : await bytesOf("/readme") };
    },
    true,
  );
  const folder = resolve(cwd, target ?? `${name.name}-${pulled.version}`);
  if (existsSync(folder)) throw usageError(`${folder} is there already`, "Name another folder with --target.");
  writeFolder(folder, {
    "module.js": pulled.code,
    ...(pulled.map === null ? {} : { "module.js.map": pulled.map }),
    ...(pulled.readme === null ? {} : { "README.md": pulled.readme }),
    "manifest.json": `${JSON.stringify(pulled.data, null, 2)}\n`,
  });
  if (output === "json") terminal.print(printableJson({ folder, sha256: pulled.data.metadata.module?.sha256, version: pulled.version }, 2));
  else terminal.print(`wrote ${shortPath(folder, cwd)}`);
  return EXIT.completed;
}

/** A folder that was not there, with all of these files or not at all. */
function writeFolder(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  try {
    makeFolder(folder);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  } catch (error) {
    // Below a file there is nothing to remove, which not every Node takes for an answer.
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
    throw new CliError(`${folder} cannot be written: ${reasonOf(error)}`, { hints: ["Name a folder elsewhere with --target, or make room."], cause: error });
  }
}

export async function envVisibility(context: CommandContext, { reference, visibility, output }: Wish & { readonly visibility: Visibility }): Promise<ExitCode> {
  const name = whole(reference);
  const answer = await askService(
    context,
    "edgewise env visibility",
    ({ client }) => client.json<object>("PATCH", pathOf(name), { body: { visibility } }),
    true,
  );
  const seen = visibility === "PUBLIC" ? "is seen by everybody" : "is seen by its team alone";
  context.terminal.print(output === "json" ? printableJson(answer, 2) : `${singleLine(publishedId(name))} ${seen}.`);
  return EXIT.completed;
}

/** A version, or, where none is named, all of them. */
export async function envDelete(context: CommandContext, { reference, output }: Wish): Promise<ExitCode> {
  const name = named(reference);
  if (name.version === null && reference.includes("@")) throw usageError("`latest` may mean another version in a moment", "Name the version itself.");
  const path = name.version === null ? pathOf(name) : versionPath(name);
  const answer = await askService(context, "edgewise env delete", ({ client }) => client.json<{ message: string }>("DELETE", path).catch(gone), true);
  context.terminal.print(output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}

/** Whoever works in another team, or only sees it, is told so by the same answer as for what is not there. */
function gone(error: unknown): never {
  if (error instanceof ServiceError && error.status === 404)
    throw new CliError(error.message, { hints: ["Only its team deletes an environment, and once. `npx edgewise env list` shows what there is."] });
  throw error;
}
