/** `edgewise env init NAME`: writes a small environment that runs, with its test. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { listEnvironments } from "../../environments/definition/load.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";
import { prepareProject, projectManifest } from "./project-files.ts";
import { namesOf, templateFiles } from "./template.ts";

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

export function envInit({ cwd, terminal }: CommandContext, { name, envDir }: { readonly name: string; readonly envDir: string }): ExitCode {
  const id = name.replaceAll("_", "-");
  if (!NAME.test(id) || id.length > 64)
    throw usageError(`${JSON.stringify(name)} is no name for an environment`, "Lower-case words and digits, with - between them: my-env.");
  const names = namesOf(id);
  const folder = join(resolve(cwd, envDir), names.file);
  if (existsSync(folder)) throw usageError(`${folder} exists already`, "Choose another name, or remove it.");
  const manifest = projectManifest(cwd);
  mkdirSync(folder, { recursive: true });
  const files = Object.entries(templateFiles(names));
  for (const [file, content] of files) writeFileSync(join(folder, file), content, { flag: "wx" });
  for (const [file] of files) terminal.print(`wrote ${shortPath(join(folder, file), cwd)}`);
  for (const path of prepareProject(manifest, folder, `${shortPath(resolve(cwd, envDir), cwd)}/**/*.ts`)) terminal.print(`wrote ${shortPath(path, cwd)}`);
  if (listEnvironments().some((bundled) => bundled.id === id))
    terminal.tell(`warning: a bundled environment is called ${id} too; commands in this folder now mean yours`);
  terminal.print(`Run it with the embedded model, which needs no key: npx edgewise eval run ${id} --provider embedded`);
  terminal.print(`Run its tests: npx edgewise env test ${id}`);
  return EXIT.completed;
}
