import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { PIECE_TABLE, SCHEMA, SPAN_TABLE } from "../../../durable-objects/run/state/schema.ts";
import type { Option } from "../../../src/config/options/option.ts";
import { OPTION_NAMES, OPTIONS } from "../../../src/config/options/options.ts";
import { ROLLOUT_ERRORS, SERVICE_ERRORS } from "../../../src/errors/codes.ts";
import * as limits from "../../../src/limits.ts";
import { optionsPage } from "../../../tools/options-page.ts";
import { protocolPage } from "../../../tools/protocol-page.ts";

/** What the documents say of the code, looked up in the code. */
const ROOT = join(import.meta.dirname, "../../..");
/** A file's text; cells of Markdown tables without the blanks that align them. */
const read = (path: string): string => {
  const text = readFileSync(join(ROOT, path), "utf8");
  return path.endsWith(".md") ? text.replaceAll(/^\|.*\|$/gm, (row) => row.replaceAll(/ +\|/g, " |").replaceAll(/-{3,}/g, "---")) : text;
};

const DOCS: readonly string[] = [
  "README.md",
  "r2-layout/README.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true })
    .map((name) => `docs/${String(name)}`)
    .filter((path) => path.endsWith(".md")),
];
const TABLES_OF_RUN = SCHEMA + PIECE_TABLE + SPAN_TABLE;
const TABLES_OF_STORAGE = "docs/storage-schema.md";
const ARCHITECTURE = "docs/architecture.md";

/** First cells in backticks of the table rows of a document, with the other cells. */
function rowsOf(path: string): ReadonlyMap<string, readonly string[]> {
  const rows = read(path)
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim()));
  return new Map(rows.map(([, first = "", ...rest]) => [first.replaceAll("`", ""), rest] as const).reverse());
}

/** The part of a document below a heading, up to the next one of the same depth or above. */
function section(path: string, heading: string): string {
  const [, after = ""] = read(path).split(`\n${heading}\n`);
  const depth = heading.indexOf(" ");
  return after.split(new RegExp(`\\n#{1,${depth}} `))[0] ?? "";
}

/** Folders of sources; what builds and runs leave behind is none. */
const FOLDERS = ["bench", "bin", "docs", "durable-objects", "r2-layout", "src", "test", "tools"];
const filesIn = (folder: string): string[] => readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${String(name)}`);

/** Paths of the repository that a text names in backticks. Patterns and placeholders are none. */
function namedPaths(text: string): readonly string[] {
  const quoted = [...text.matchAll(/`([^`\s{}]+)`/g)].map(([, word = ""]) => word);
  return quoted.filter((word) => word.includes("/") && FOLDERS.includes(word.split("/")[0] ?? "") && !/[*<>]/.test(word));
}

describe("README.md", () => {
  it("begins with the two commands: an evaluation, and the tests", () => {
    const blocks = [...read("README.md").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block.trim());
    expect(blocks).toHaveLength(2);
    expect(blocks[0]).toBe("npm ci && npx edgewise eval run arithmetic --provider embedded");
    expect(blocks[1]).toBe("npm ci && npm test");
    expect(read(".ci/run")).toContain("npm ci\nnpm test");
  });

  it("names only scripts and flags that there are", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const texts = DOCS.map(read).join("\n");
    for (const [, script = ""] of texts.matchAll(/npm run ([a-z:]+)/g)) expect(Object.keys(scripts)).toContain(script);
    const shorts = OPTION_NAMES.map((name) => (OPTIONS[name] as Option).short);
    for (const [, flag] of section("README.md", "## A real model").matchAll(/^\| .*?`-([A-Za-z])`/gm)) expect(shorts).toContain(flag);
  });
});

describe("docs/options.md", () => {
  it("is what `node tools/options-page.ts` makes of the table of options", () => {
    expect(readFileSync(join(ROOT, "docs/options.md"), "utf8")).toBe(optionsPage());
  });
});

describe("docs/environment-protocol.md", () => {
  it("is what `node tools/protocol-page.ts` makes of the messages", () => {
    expect(readFileSync(join(ROOT, "docs/environment-protocol.md"), "utf8")).toBe(protocolPage());
  });
});

describe("every document", () => {
  it.each(DOCS)("%s names only files that exist, and links to them", (path) => {
    const text = read(path);
    for (const named of namedPaths(text)) expect(existsSync(join(ROOT, named)) || existsSync(join(ROOT, dirname(path), named)), named).toBe(true);
    for (const [, link = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : normalize(join(dirname(path), file));
      expect(existsSync(join(ROOT, target)), `${path} links to ${link}`).toBe(true);
      if (anchor === undefined) continue;
      const anchors = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w -]/g, "")
          .replaceAll(" ", "-"),
      );
      expect(anchors, `${path} links to ${link}`).toContain(anchor);
    }
  });

  it("is whole: nothing of two versions that were never joined is left in it", () => {
    const marked = DOCS.filter((path) => /^(<{7}|={7}|>{7})( |$)/m.test(read(path)));
    expect(marked).toEqual([]);
  });

  it("that the code refers to has the section it names", () => {
    const sources = ["wrangler.toml", ...FOLDERS.flatMap(filesIn).filter((path) => path.endsWith(".ts"))];
    const references = sources.flatMap((path) =>
      [...read(path).matchAll(/(docs\/[\w/-]+\.md)(?:, "([^"]+)")?/g)].map(([, doc = "", title]) => ({ path, doc, title })),
    );
    expect(references.length).toBeGreaterThan(5);
    for (const { path, doc, title } of references) {
      expect(existsSync(join(ROOT, doc)), `${path} refers to ${doc}`).toBe(true);
      if (title !== undefined) expect(read(doc), `${path} refers to "${title}"`).toContain(`\n## ${title}\n`);
    }
  });

  it("in docs/decisions is in their list", () => {
    const pages = readdirSync(join(ROOT, "docs/decisions")).filter((name) => name !== "README.md");
    const listed = [...read("docs/decisions/README.md").matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => name);
    expect([...listed].sort()).toEqual(pages.sort());
    for (const page of pages)
      expect(read(`docs/decisions/${page}`), page).toMatch(
        /^# .+\n\nStatus: [\s\S]+\*\*Context\.\*\*[\s\S]+\*\*Decision\.\*\*[\s\S]+\*\*Measured\.\*\*[\s\S]+\*\*Consequences\.\*\*/,
      );
  });
});

describe(TABLES_OF_STORAGE, () => {
  const tablesIn = (sql: string): string[] => [...sql.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g)].map(([, name = ""]) => name);
  const rowsIn = (heading: string): string[] =>
    section(TABLES_OF_STORAGE, heading)
      .split("\n")
      .flatMap((line) => /^\| `(\w+)` \|/.exec(line)?.[1] ?? []);

  it("has every table of a Run, with its columns", () => {
    const tables = tablesIn(TABLES_OF_RUN);
    expect(rowsIn("## The Run's tables").slice(0, tables.length)).toEqual(tables);
    const lines = section(TABLES_OF_STORAGE, "## The Run's tables").split("\n");
    for (const [, table = "", columns = ""] of TABLES_OF_RUN.matchAll(/CREATE TABLE IF NOT EXISTS (\w+) \(([^;]+)\)/g)) {
      const line = lines.find((each) => each.startsWith(`| \`${table}\` |`)) ?? "";
      for (const [, column = ""] of columns.matchAll(/(?:^|,)\s*(\w+) (?:INTEGER|TEXT)/g)) expect(line, `${table}.${column}`).toContain(`\`${column}\``);
    }
  });

  it("has every record of a Run", () => {
    const records = [...read("durable-objects/run/state/sql-ledger.ts").matchAll(/(?:#records\.(?:put|get)|#record)\("(\w+)"/g)].map(([, key = ""]) => key);
    expect(new Set(rowsIn("## The Run's tables").slice(tablesIn(TABLES_OF_RUN).length))).toEqual(new Set(records));
  });

  it("has every table and index of the Registry", () => {
    const stores = [
      "registry-store",
      "audit-store",
      "watch-store",
      "endpoint-store",
      "baselines/baseline-store",
      "schedules/schedule-index",
      "monitors/monitor-index",
      "named-dataset-store",
      "published/published-store",
      "links/link-store",
      "limiters/limiter-store",
      "budgets/kept-budget-store",
      "limit-store",
      "use-store",
    ];
    const source = [...stores, "secrets/secret-tables"].map((file) => read(`durable-objects/registry/${file}.ts`)).join("\n");
    // Evaluators are listed in a table like that of schedules.
    expect(rowsIn("## The Registry's tables").sort()).toEqual([...tablesIn(source), "evaluator"].sort());
    for (const [, index = ""] of source.matchAll(/CREATE INDEX (?:IF NOT EXISTS )?(\w+)/g))
      expect(section(TABLES_OF_STORAGE, "## The Registry's tables")).toContain(`\`${index}\``);
  });

  it("has every table and index of the Directory, with its columns", () => {
    const source = ["directory-tables", "token-store"].map((file) => read(`durable-objects/directory/${file}.ts`)).join("\n");
    const part = section(TABLES_OF_STORAGE, "## The Directory's tables");
    expect(rowsIn("## The Directory's tables").sort()).toEqual(tablesIn(source).sort());
    for (const [, index = ""] of source.matchAll(/CREATE INDEX (?:IF NOT EXISTS )?(\w+)/g)) expect(part).toContain(`\`${index}\``);
    for (const [, table = "", columns = ""] of source.matchAll(/CREATE TABLE (\w+) \(([^;]+)\)/g)) {
      const line = part.split("\n").find((each) => each.startsWith(`| \`${table}\` |`)) ?? "";
      for (const [, column = ""] of columns.matchAll(/(?:^|,)\s*(\w+) (?:INTEGER|TEXT)/g)) expect(line, `${table}.${column}`).toContain(`\`${column}\``);
    }
  });

  it("has every table of an AnswerDesk, with its columns", () => {
    const source = read("durable-objects/answers/answer-store.ts");
    const part = section(TABLES_OF_STORAGE, "## An AnswerDesk's tables");
    expect(rowsIn("## An AnswerDesk's tables").sort()).toEqual([...tablesIn(source), "schema_version"].sort());
    for (const [, columns = ""] of source.matchAll(/CREATE TABLE \w+ \(([^;]+)\)/g))
      for (const [, column = ""] of columns.matchAll(/(?:^|,)\s*(\w+) (?:INTEGER|TEXT)/g)) expect(part).toContain(`\`${column}\``);
  });

  it.each([TABLES_OF_STORAGE, "r2-layout/README.md"])("R2 keys: %s has one row for each that is built", (path) => {
    const keys = [...read("r2-layout/keys.ts").matchAll(/export const (\w+Key) =/g)].map(([, name]) => name);
    const rows = [...rowsOf(path).keys()].filter((key) => /^(outputs|runs|answers|datasets|environments)\//.test(key));
    // `outputKey` makes three files.
    expect(rows).toHaveLength(keys.length + 2);
  });
});

describe(ARCHITECTURE, () => {
  const rows = rowsOf(ARCHITECTURE);

  it("has every variable of wrangler.toml with its value, and what the local service sets instead", () => {
    const [, vars = ""] = read("wrangler.toml").split("\n[vars]\n");
    const deployed = [...(vars.split(/\n\[/)[0] ?? "").matchAll(/^(\w+) = "(.*)"$/gm)];
    expect(deployed.length).toBeGreaterThan(5);
    const local = new Map(
      [...read("src/cli/service/local-workers.ts").matchAll(/^ {2}(\w+): "(\d+)",$/gm)].map(([, name = "", value = ""]) => [name, value] as const),
    );
    const table = section(ARCHITECTURE, "## Numbers");
    for (const [, name = "", value = ""] of deployed) {
      const line = table.split("\n").find((each) => each.startsWith(`| \`${name}\` | ${value} |`));
      expect(line, name).toBeDefined();
      if (local.has(name)) expect(line, name).toContain(`| ${value} | ${local.get(name)} |`);
    }
  });

  it("has the budgets of src/limits.ts as they are", () => {
    const units: Readonly<Record<string, number>> = { MiB: limits.MIB, KiB: limits.KIB, min: 60_000 };
    const shown = [...section(ARCHITECTURE, "## Numbers").matchAll(/^\| `([A-Z_]+)` \| (\d+)(?: (MiB|KiB|min))? \|/gm)].filter(
      ([, name = ""]) => name in limits,
    );
    expect(shown.length).toBeGreaterThan(8);
    for (const [, name = "", amount, unit] of shown) {
      // The variable SLICE_MS of wrangler.toml has the limit's name and is written without a unit.
      if (name === "SLICE_MS" && unit === undefined) continue;
      expect(Number(amount) * (unit === undefined ? 1 : (units[unit] ?? Number.NaN)), name).toBe((limits as unknown as Record<string, number>)[name]);
    }
  });

  it("has every error code of the service with its status", () => {
    for (const [code, status] of Object.entries(SERVICE_ERRORS)) expect(rows.get(code)?.[0], code).toBe(String(status));
  });

  it("has every route of the door", () => {
    const door = section(ARCHITECTURE, "## The HTTP door");
    for (const route of ["cancel", "interrupt", "resume", "events", "rows", "files", "datasets", "operations", "health"]) expect(door).toContain(`/${route}`);
  });
});

describe("docs/retries.md", () => {
  it("has every error code of a rollout", () => {
    const codes = rowsOf("docs/retries.md");
    for (const code of Object.keys(ROLLOUT_ERRORS)) expect([...codes.keys()]).toContain(code);
  });
});

describe("docs/test-matrix.md", () => {
  const proofs = read("docs/test-matrix.md")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .flatMap((line) => line.split(/(?=`test\/)/).slice(1))
    .map((part) => ({ path: /^`([^`]+)`/.exec(part)?.[1] ?? "", titles: [...part.matchAll(/ "([^"]+)"/g)].map(([, title = ""]) => title) }));

  it("quotes tests by their names", () => {
    expect(proofs.flatMap(({ titles }) => titles).length).toBeGreaterThan(50);
    for (const { path, titles } of proofs) for (const title of titles) expect(read(path), `${path}: ${title}`).toContain(title);
  });

  it("leaves out no file of the upper layers", () => {
    const upper = filesIn("test").filter((path) => /^test\/(workers|e2e|simulation)\/[^/]+\.test\.ts$/.test(path));
    const named = new Set(proofs.map(({ path }) => path));
    // Uploads and small objects of the door are a detail of storage, not a promise of their own.
    expect(
      upper.filter((path) => !named.has(path) && !path.endsWith("r2-object-store.test.ts")),
      "tests without a row in the matrix",
    ).toEqual([]);
  });
});

describe("comments", () => {
  /** References to papers that a reader of the package does not have. Public standards are named with their publisher. */
  const ELSEWHERE = [
    /\b(verifiers-)?spec(ification)? (sections? )?\d/i,
    /\bverifiers-spec\b/,
    /\bprime-api\b/,
    /\bevsys\b/i,
    /\bdesign, sections? \d/,
    /^[^;=]*\(sections? \d/i,
  ];

  it("explain, and send nobody to sections of a document that is not here", () => {
    const files = ["src", "durable-objects", "r2-layout"].flatMap(filesIn).filter((path) => path.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(300);
    const found = files.flatMap((path) =>
      read(path)
        .split("\n")
        .flatMap((line, at) => (ELSEWHERE.some((pattern) => pattern.test(line)) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });
});
