/** `edgewise dataset put | list | delete`: data sets that the service has by name. */
import { basename, resolve } from "node:path";
import { columnLines } from "../../report/text/columns.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { bytesText } from "../../teams/limits.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { describeDataset, type LocalDataset, uploadDataset } from "./dataset-upload.ts";

interface Wish {
  readonly output: Output;
}

interface NamedDataset {
  readonly name: string;
  readonly revisions: readonly {
    readonly revision: string;
    readonly files: readonly { readonly path: string; readonly bytes: number }[];
    readonly created_at: string;
  }[];
}

const pathOf = (name: string | null): string => `/named-datasets${name === null ? "" : `/${encodeURIComponent(name)}`}`;

/** Uploads what the service does not have, and names it; may be repeated: the same files are the same revision. */
export async function datasetPut(
  context: CommandContext,
  { name, files, output }: Wish & { readonly name: string; readonly files: readonly string[] },
): Promise<ExitCode> {
  const twice = files.find((file, at) => files.findIndex((each) => basename(each) === basename(file)) !== at);
  if (twice !== undefined) throw usageError(`two files are called ${basename(twice)}`, "A file has its own name in the data set: train.jsonl, test.jsonl.");
  const described: (LocalDataset & { readonly name: string })[] = [];
  for (const file of files) described.push({ name: basename(file), ...(await describeDataset(resolve(context.cwd, file))) });
  const answer = await askService(
    context,
    "edgewise dataset put",
    async ({ client }) => {
      for (const file of described) await uploadDataset(client, file);
      const body = { files: described.map((file) => ({ path: file.name, dataset: `sha256:${file.digest}` })) };
      return client.json<{ data: NamedDataset }>("PUT", pathOf(name), { body, retries: 2 });
    },
    true,
  );
  tell(context, [answer.data], answer, output);
  if (output === "table") context.terminal.tell(`With HF_ENDPOINT set to the service: load_dataset(${JSON.stringify(`edgewise/${singleLine(name)}`)})`);
  return EXIT.completed;
}

export async function datasetList(context: CommandContext, { output }: Wish): Promise<ExitCode> {
  const answer = await askService(
    context,
    "edgewise dataset list",
    ({ client }) => client.json<{ data: readonly NamedDataset[] }>("GET", pathOf(null), { retries: 2 }),
    true,
  );
  if (output === "table" && answer.data.length === 0) context.terminal.tell("There are no data sets. One is made by `npx edgewise dataset put NAME FILE`.");
  else tell(context, answer.data, answer, output);
  return EXIT.completed;
}

export async function datasetDelete(context: CommandContext, { name, output }: Wish & { readonly name: string }): Promise<ExitCode> {
  const answer = await askService(context, "edgewise dataset delete", ({ client }) => client.json<{ message: string }>("DELETE", pathOf(name)), true);
  context.terminal.print(output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}

function tell({ terminal }: CommandContext, datasets: readonly NamedDataset[], answer: object, output: Output): void {
  if (output === "json") return terminal.print(printableJson(answer, 2));
  const columns = [{ title: "DATA SET" }, { title: "REVISION" }, { title: "SIZE" }, { title: "SINCE" }, { title: "FILES", flexible: true }] as const;
  const rows = datasets.flatMap(({ name, revisions: [newest] }) =>
    newest === undefined
      ? []
      : [
          [
            name,
            newest.revision.slice(0, 12),
            bytesText(newest.files.reduce((sum, { bytes }) => sum + bytes, 0)),
            newest.created_at.slice(0, 10),
            newest.files.map(({ path }) => path).join(" "),
          ].map(singleLine),
        ],
  );
  for (const line of columnLines(columns, rows, terminal.columns)) terminal.print(line);
}
