import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { EdgewiseError } from "../errors/result.ts";
import { CONFIGS_VERSION, type ConfigStatement, FRONT_MATTER } from "../exports/card-statement.ts";

/** A run as it stands in the card of a data set: a config in the front matter, and a part of the text between two comments. */
export interface CardConfig {
  readonly config: string;
  /** Whose run it is; null where it has no id. */
  readonly run: string | null;
  /** Where its files are, with a `*`. */
  readonly path: string;
  /** Markdown. */
  readonly section: string;
  /** Of its files and numbers, for programs. */
  readonly statement: ConfigStatement;
}

export interface NewCard {
  /** Lines of front matter above the configs. */
  readonly frontMatter: readonly string[];
  /** Text above and below the parts of the runs. */
  readonly intro: string;
  readonly outro: string;
}

/**
 * The card of a data set with these runs in it. Of one that is there everything else stays as it is, comments too: what people wrote, and the runs
 * of other pushes. `id`: of the data set, for errors. `dataFiles`: what the data set has beside. Throws `hub_refused` where that is not possible.
 */
export function mergedCard(id: string, existing: string | null, runs: readonly CardConfig[], fresh: NewCard, dataFiles: readonly string[]): string {
  if (existing === null || existing.trim() === "") {
    requireNoFiles(id, dataFiles);
    const front = withConfigs(id, `${fresh.frontMatter.join("\n")}\n`, runs) ?? "";
    return `---\n${front}---\n\n${fresh.intro.trim()}\n\n${runs.map(partOf).join("\n\n")}\n\n${fresh.outro.trim()}\n`;
  }
  const found = FRONT_MATTER.exec(existing);
  const front = found?.[1] ?? "";
  if (!isSeq(parseFront(id, front).get("configs"))) requireNoFiles(id, dataFiles);
  const changed = withConfigs(id, front, runs);
  const body = existing.slice(found?.[0].length ?? 0);
  const head = found !== null && changed === null ? found[0] : `---\n${changed ?? ""}---\n${found === null ? "\n" : ""}`;
  return head + runs.reduce((text, run) => withPart(id, text, run), body);
}

/** Files that no config names are found by their names, until there is a config: then they are not. */
function requireNoFiles(id: string, dataFiles: readonly string[]): void {
  const [first] = dataFiles;
  if (first === undefined) return;
  throw new EdgewiseError("hub_refused", `${id} has data files (${first}) that no config of its card names, and would lose them with the first config.`, {
    hint: "Push to a data set of another name, or add a config for them to its README.md.",
  });
}

function parseFront(id: string, front: string): Document {
  const document = parseDocument(front);
  const [problem] = document.errors;
  const isEmpty = document.contents === null;
  if (problem === undefined && (isEmpty || isMap(document.contents))) return document;
  throw new EdgewiseError(
    "hub_refused",
    `The front matter of the card of ${id} is no YAML object: ${(problem?.message ?? "it is a list or a text").split("\n")[0]}`,
    {
      hint: `Mend the lines between the first --- and the next in README.md of ${id}, or push to a data set of another name.`,
    },
  );
}

/** The front matter with a config for each run; null where it has them already. */
function withConfigs(id: string, front: string, runs: readonly CardConfig[]): string | null {
  const document = parseFront(id, front);
  if (!isMap(document.contents)) document.contents = document.createNode({}) as unknown as YAMLMap;
  const found = document.get("configs");
  if (found !== undefined && found !== null && !isSeq(found))
    throw new EdgewiseError("hub_refused", `\`configs\` in the front matter of the card of ${id} is no list.`, { hint: `Mend README.md of ${id}.` });
  const configs = isSeq(found) ? found : (document.createNode([]) as YAMLSeq);
  let changed = false;
  for (const { config, path } of runs) {
    const there = configs.items.find((item) => isMap(item) && String(item.get("config_name")) === config);
    if (there !== undefined) {
      requireOwn(id, config, path, isMap(there) ? there.toJS(document) : null);
      continue;
    }
    changed = true;
    const isFirst = configs.items.length === 0;
    configs.add(document.createNode({ config_name: config, ...(isFirst ? { default: true } : {}), data_files: [{ split: "train", path }] }));
  }
  if (changed && !isSeq(found)) document.set("configs", configs);
  if (!stateConfigs(id, document, runs) && !changed) return null;
  const isIndented = /^[\w-]+:[ \t]*\r?\n[ \t]+- /m.test(front);
  return document.toString({ lineWidth: 0, indentSeq: isIndented });
}

/** Sets what the card states of each run; says whether that is anything new. */
function stateConfigs(id: string, document: Document, runs: readonly CardConfig[]): boolean {
  const found = document.get("edgewise") ?? null;
  const version = isMap(found) ? found.get("version") : null;
  if (found !== null && !(isMap(found) && typeof version === "number" && version <= CONFIGS_VERSION))
    throw new EdgewiseError(
      "hub_refused",
      `\`edgewise\` in the front matter of the card of ${id} is nothing that this version of Edgewise writes${typeof version === "number" ? ` (version ${version})` : ""}.`,
      { hint: `Push with the version that wrote it, or take it out of README.md of ${id}.` },
    );
  const stated = isMap(found) ? found : (document.createNode({}) as YAMLMap);
  const before = stated.get("configs");
  const configs = isSeq(before) ? before : (document.createNode([]) as YAMLSeq);
  let changed = false;
  for (const { config, statement } of runs) {
    const at = configs.items.findIndex((item) => isMap(item) && item.get("config") === config);
    const there = configs.items[at];
    if (isMap(there) && JSON.stringify(there.toJS(document)) === JSON.stringify(statement)) continue;
    changed = true;
    // A line for each, as of files and runs in the card of an export.
    const node = document.createNode(statement, { flow: true });
    if (at < 0) configs.add(node);
    else configs.set(at, node);
  }
  if (!changed) return false;
  stated.set("version", CONFIGS_VERSION);
  stated.set("configs", configs);
  document.set("edgewise", stated);
  return true;
}

function requireOwn(id: string, config: string, path: string, there: unknown): void {
  const { data_files } = (there ?? {}) as { data_files?: unknown };
  const [first] = Array.isArray(data_files) ? (data_files as unknown[]) : [];
  if (Array.isArray(data_files) && data_files.length === 1 && (first as { path?: unknown } | null)?.path === path) return;
  throw taken(id, config, "with other files");
}

const taken = (id: string, config: string, how: string): EdgewiseError =>
  new EdgewiseError("hub_refused", `${id} has a config ${config} already, ${how}.`, { hint: "Name another one: --config NAME" });

const beginning = ({ config, run }: Pick<CardConfig, "config" | "run">): string => `<!-- edgewise: config ${config}${run === null ? "" : `, run ${run}`} -->`;
const ending = (config: string): string => `<!-- edgewise: end of config ${config} -->`;
const partOf = (run: CardConfig): string => `${beginning(run)}\n\n${run.section.trim()}\n\n${ending(run.config)}`;

/** The text with the run's part in the place of the one before, or behind the last part, or at its end. */
function withPart(id: string, text: string, run: CardConfig): string {
  const name = run.config.replaceAll(".", "\\.");
  const own = new RegExp(`^<!-- edgewise: config ${name}(?:, run (\\w+))? -->[\\s\\S]*?^<!-- edgewise: end of config ${name} -->`, "m").exec(text);
  if (own !== null) {
    if ((own[1] ?? null) !== run.run) throw taken(id, run.config, `of ${own[1] === undefined ? "another run" : `run ${own[1]}`}`);
    return text.slice(0, own.index) + partOf(run) + text.slice(own.index + own[0].length);
  }
  const last = [...text.matchAll(/^<!-- edgewise: end of config .+? -->/gm)].at(-1);
  if (last === undefined) return `${text.trimEnd()}${text.trim() === "" ? "" : "\n\n"}${partOf(run)}\n`;
  const at = last.index + last[0].length;
  return `${text.slice(0, at)}\n\n${partOf(run)}${text.slice(at)}`;
}
