import type { FolderSource } from "../../../durable-objects/run/protocol.ts";
import { type FolderManifest, readManifest } from "../../../r2-layout/folder-manifest.ts";
import { datasetKey } from "../../../r2-layout/keys.ts";
import { numberedLines } from "../../datasets/jsonl.ts";
import { EdgewiseError, failureOf } from "../../errors/result.ts";
import { type ForeignRow, readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import type { ExecutorStore } from "../ports.ts";

/** The rows of an example. */
export interface AdoptedExample {
  readonly id: number;
  /** By the number of the attempt. */
  readonly rows: ReadonlyMap<number, ForeignRow>;
}

/** The rows of an example as they come. */
interface OpenExample {
  readonly id: number;
  readonly numbered: Map<number, ForeignRow>;
  readonly others: { readonly line: number; readonly row: ForeignRow }[];
}

type Uploads = Pick<ExecutorStore, "readAll" | "stream">;

const gone = (): EdgewiseError =>
  new EdgewiseError("resume_mismatch", "The uploaded rows of the result folder are gone.", { hint: "Resume from the folder again." });

/** What an upload holds: its parts as they are named, or itself as the only one, of which nothing is known beforehand. Throws `resume_mismatch` when it is gone. */
export async function manifestOf(
  store: Pick<Uploads, "readAll">,
  { results, in_parts }: FolderSource,
): Promise<Partial<FolderManifest> & Pick<FolderManifest, "parts">> {
  if (in_parts !== true) return { parts: [{ digest: results, bytes: 0 }] };
  const bytes = await store.readAll(datasetKey(results));
  if (bytes === null) throw gone();
  const manifest = readManifest(bytes);
  if (!manifest.ok)
    throw new EdgewiseError(manifest.error.code, manifest.error.message, manifest.error.hint === undefined ? {} : { hint: manifest.error.hint });
  return manifest.value;
}

/** Examples of one part, one after the other; they ascend. Throws `resume_mismatch` with the line that cannot be taken over. `where`: what the lines are of. */
export async function* examplesOf(store: Pick<Uploads, "stream">, digest: string, rollouts: number, where: string): AsyncGenerator<AdoptedExample> {
  const stream = await store.stream(datasetKey(digest));
  if (stream === null) throw gone();
  yield* examplesIn(stream, rollouts, where);
}

/** The same of the bytes of any `results.jsonl`. */
export async function* examplesIn(stream: ReadableStream<Uint8Array>, rollouts: number, where: string): AsyncGenerator<AdoptedExample> {
  let open: OpenExample | null = null;
  for await (const { line, text } of numberedLines(stream)) {
    const unusable = (problem: string): EdgewiseError => unusableLine(where, line, problem);
    const row = readLine(text, unusable);
    const { example_id: id, rollout_index: index } = row.value;
    if (typeof id !== "number" || !Number.isSafeInteger(id)) throw unusable("it has no integer example_id");
    if (open !== null && id < open.id) throw unusable(`example_id ${id} follows ${open.id}; rows must be sorted by example_id`);
    if (open === null || id !== open.id) {
      if (open !== null) yield closed(open, rollouts, where);
      open = { id, numbered: new Map(), others: [] };
    }
    if (typeof index !== "number") open.others.push({ line, row });
    else if (!Number.isSafeInteger(index) || index < 0 || index >= rollouts)
      throw unusable(`rollout_index ${index} is not below rollouts_per_example ${rollouts}`);
    else open.numbered.set(index, row);
  }
  if (open !== null) yield closed(open, rollouts, where);
}

const unusableLine = (where: string, line: number, text: string): EdgewiseError =>
  new EdgewiseError("resume_mismatch", `${where} line ${line}: ${text}`, { hint: "Resume from an unchanged result folder, or start a new run." });

function readLine(text: string, unusable: (problem: string) => EdgewiseError): ForeignRow {
  try {
    return readForeignRow(text);
  } catch (thrown) {
    throw unusable(`not JSON: ${failureOf(thrown).message}`);
  }
}

/** Rows without a number get those that are left, as they come: the Python library adds such rows to a folder of ours. */
function closed({ id, numbered, others }: OpenExample, rollouts: number, where: string): AdoptedExample {
  const rows = new Map(numbered);
  let next = 0;
  for (const { line, row } of others) {
    while (rows.has(next)) next++;
    if (next >= rollouts) throw unusableLine(where, line, `example ${id} has more rows than rollouts_per_example ${rollouts}`);
    rows.set(next, row);
  }
  return { id, rows };
}
