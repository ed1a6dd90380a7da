/** `edgewise env push`: makes an environment of this machine known to a service by its name. */
import { createHash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isBundled } from "../../environments/definition/load.ts";
import { KIB, MAX_MODULE_BYTES, MAX_README_BYTES, MAX_SOURCE_MAP_BYTES, MIB } from "../../limits.ts";
import { isPublishedName, NAME_RULE, ownerOf, type Visibility } from "../../published/published-name.ts";
import { isVersion, VERSION_RULE } from "../../published/published-version.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";
import { type ServiceClient, UPLOAD_MS } from "../connection/http-client.ts";
import { bundleEnvironment, type DescribedModule } from "../environments/bundle.ts";
import { describeModules } from "../environments/describe.ts";
import { environmentFile, environmentsIn } from "../environments/find-environment.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, reasonOf, usageError } from "../terminal/cli-error.ts";
import type { PushAnswer } from "./published-answers.ts";

export interface PushWish {
  /** A file, a folder, or the name of one in the folder of environments. */
  readonly path: string;
  readonly envDir: string;
  /** In the place of the definition's. */
  readonly version?: string | undefined;
  readonly visibility?: Visibility | undefined;
  readonly team?: string | undefined;
  readonly output: Output;
}

/** The library's pieces lie beside the module wherever it is run. */
const LIBRARY_OF_ISOLATES = "./lib/";

/** Bundles and describes the environment, and publishes it. Throws usage errors for what cannot be published, before a service is asked. */
export async function envPush(context: CommandContext, { path, envDir, team, visibility, output, ...wish }: PushWish): Promise<ExitCode> {
  const { module, facts, folder } = await described(path, envDir, context.cwd);
  const [written = "", name = written] = facts.id.split("/");
  if (!isPublishedName(name))
    throw usageError(`the environment calls itself ${JSON.stringify(facts.id)}: a published name ${NAME_RULE}`, "Give it another `id`.");
  if (isBundled(name))
    throw usageError(`${name} is the name of a bundled environment`, "Give yours another `id`: a published one stands beside the bundled ones.");
  const version = wish.version ?? facts.version;
  if (!isVersion(version))
    throw usageError(`version ${JSON.stringify(version)} ${VERSION_RULE}`, "Change `version` of the definition, or push it as another one: --version 1.0.0");
  const code = Buffer.from(module.code(LIBRARY_OF_ISOLATES));
  const map = Buffer.from(module.map);
  tooLarge("the module of the environment", code.byteLength, MAX_MODULE_BYTES);
  tooLarge("its source map", map.byteLength, MAX_SOURCE_MAP_BYTES);
  const readme = readmeIn(folder);
  const sha256 = sha256Of(code);
  const form = new FormData();
  form.set("manifest", JSON.stringify({ sha256, ...(visibility === undefined ? {} : { visibility }) }));
  form.set("module", new Blob([code], { type: "text/javascript" }), "module.js");
  form.set("source_map", new Blob([map], { type: "application/json" }), "module.js.map");
  if (readme !== null) form.set("readme", new Blob([readme], { type: "text/markdown" }), README);
  const { data } = await askService(
    context,
    "edgewise env push",
    async ({ client }) => {
      const owner = team === undefined ? await ownOwner(client) : ownerOf(team);
      if (name !== written && written !== owner)
        throw usageError(
          `the environment calls itself ${facts.id}, and ${owner} publishes it`,
          "Leave the owner out of its `id`, or name the team with --team.",
        );
      const at = `/environmentshub/${owner}/${encodeURIComponent(name)}/@${version}`;
      return client.json<{ data: PushAnswer }>("PUT", at, { form, retries: 2, timeoutMs: UPLOAD_MS });
    },
    true,
  );
  tell(context, data, output);
  if (readme !== null && data.readme === undefined) context.terminal.tell("Its README is not published: the service is of a version that keeps none.");
  else if (readme !== null && data.readme !== sha256Of(readme))
    context.terminal.tell("Its README stays as it was first pushed with this version: push a new version for another one.");
  return EXIT.completed;
}

const README = "README.md";
const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** What lies beside a single file may be the README of anything: `folder` is the environment's own, or null. Throws usage errors for what cannot be published. */
function readmeIn(folder: string | null): Buffer | null {
  const path = folder === null ? null : join(folder, README);
  if (path === null || !existsSync(path)) return null;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw usageError(`${path} cannot be read: ${reasonOf(error)}`);
  }
  if (!isUtf8(bytes)) throw usageError(`${path} is no text in UTF-8`);
  if (bytes.byteLength > MAX_README_BYTES)
    throw usageError(
      `${path} has ${Math.ceil(bytes.byteLength / KIB)} KiB; at most ${MAX_README_BYTES / KIB} KiB are published`,
      "Shorten it, or put the rest elsewhere.",
    );
  return bytes.byteLength === 0 ? null : bytes;
}

async function described(path: string, envDir: string, cwd: string): Promise<DescribedModule & { readonly folder: string | null }> {
  const file = environmentFile(path, cwd, envDir);
  if (file === null) {
    const there = environmentsIn(cwd, envDir).flatMap(({ folder }) => folder?.split("/").at(-1) ?? []);
    throw usageError(
      `there is no environment ${JSON.stringify(path)} in ${envDir}`,
      ...(existsSync(resolve(cwd, path)) ? [`The one of the current folder is ./${path}.`] : []),
      there.length === 0 ? "`npx edgewise env init NAME` writes an example." : `There are ${there.join(", ")}.`,
    );
  }
  const [found] = await describeModules([await bundleEnvironment(file)]);
  return { ...(found as DescribedModule), folder: file.folder };
}

/** The owner that the caller's first team is. */
async function ownOwner(client: ServiceClient): Promise<string> {
  const { data } = await client.json<{ data: readonly { readonly teamId: string }[] }>("GET", "/user/teams?limit=1", { retries: 2 });
  return ownerOf(data[0]?.teamId ?? DEFAULT_TEAM);
}

function tooLarge(what: string, bytes: number, most: number): void {
  if (bytes <= most) return;
  throw usageError(
    `${what} has ${(bytes / MIB).toFixed(1)} MiB; at most ${most / MIB} MiB are published`,
    "Rows come by reference (the argument `dataset`); of packages import what is needed.",
  );
}

function tell({ terminal }: CommandContext, answer: PushAnswer, output: Output): void {
  if (output === "json") return terminal.print(printableJson({ data: answer }, 2));
  const { owner, name, version, sha256, visibility, latest } = answer;
  const slug = singleLine(`${owner.name}/${name}@${version}`);
  terminal.print(slug);
  terminal.tell(`Run it: npx edgewise eval run ${slug}`);
  const seen = visibility === "PUBLIC" ? "everybody sees it" : "its team sees it";
  terminal.tell(`Published: ${seen}, ${latest ? "and it is the latest version" : "and a later version is there"}. sha256 ${singleLine(sha256)}`);
}
