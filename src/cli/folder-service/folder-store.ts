import type { ObjectStore } from "../../api/app-ports.ts";
import { segmentOf } from "../../../r2-layout/keys.ts";
import { metadataText } from "../../report/metadata.ts";
import { streamOf } from "../../stream-of.ts";
import { fileBytes } from "./file-bytes.ts";
import type { Folder } from "./folder.ts";
import type { ReadRows } from "./folder-rows.ts";
import type { HeldRow } from "./held-row.ts";
import { only } from "./refusing.ts";
import { rowsObjectOf } from "./row-places.ts";
import { allRows, textsOf, within } from "./row-texts.ts";

const FILE_OF_RUN = /(?:^|\/)([0-9a-f]{8})\/(results\.jsonl|metadata\.json)$/;
const OBJECT_OF_RUN = /^runs\/([0-9a-f]{8})\//;

type Range = { readonly offset: number; readonly length: number };

/** The objects that a service has of a run, read from the files of folders that were found: no other file is opened, whatever a key says. */
export function folderStore(folderOf: (id: string) => Folder | null, held: HeldRow): ObjectStore {
  return only<ObjectStore>({
    size: async (key) => (await opened(folderOf, key))?.bytes ?? null,
    parsed: async (key, { offset, length }) => {
      const id = OBJECT_OF_RUN.exec(key)?.[1] ?? "";
      const object = rowsObjectOf(segmentOf(id, key)?.name ?? "");
      const file = (await folderOf(id)?.look())?.file;
      if (object?.kind !== "file" || file === undefined || file === null) return null;
      const bytes = length - 1;
      const row = held.of({ path: file.path, state: object.state, offset, length: bytes });
      return row === null ? null : { row, bytes };
    },
    read: async (key, range) => {
      const found = await opened(folderOf, key);
      if (found === null) return null;
      return streamOf(range === undefined ? found.pieces() : within(found.pieces(range), found.isRanged ? { offset: 0, length: range.length } : range));
    },
  });
}

interface Opened {
  readonly bytes: number;
  /** From the range on, where `isRanged`. */
  pieces(range?: Range): AsyncGenerator<Buffer>;
  readonly isRanged?: true;
}

async function opened(folderOf: (id: string) => Folder | null, key: string): Promise<Opened | null> {
  const [, ofFile = "", file = ""] = FILE_OF_RUN.exec(key) ?? [];
  const id = ofFile || (OBJECT_OF_RUN.exec(key)?.[1] ?? "");
  const folder = folderOf(id);
  if (folder === null) return null;
  if (file === "metadata.json") return textObject(metadataText(folder.facts.metadata));
  const rows = await folder.look();
  if (file === "results.jsonl") return { bytes: rows.index.bytes, pieces: () => textsOf(rows, allRows(rows)) };
  const object = rowsObjectOf(segmentOf(id, key)?.name ?? "");
  // What was said of a file that was written anew since holds no longer.
  if (object === null || object.state < rows.since) return null;
  return object.kind === "file" ? wholeFile(rows) : rowsOfExample(rows, object);
}

function textObject(text: string): Opened {
  const bytes = Buffer.from(text);
  return {
    bytes: bytes.byteLength,
    pieces: async function* () {
      yield bytes;
    },
  };
}

/** The file as it stands. */
function wholeFile({ file }: ReadRows): Opened | null {
  if (file === null) return null;
  const { path, size } = file;
  return { bytes: size, isRanged: true, pieces: (range) => fileBytes(path, range ?? { offset: 0, length: size }) };
}

function rowsOfExample(rows: ReadRows, { example, rows: count }: { readonly example: number; readonly rows: number }): Opened {
  const own = rows.index.rowsOf(example).filter((row) => row < count);
  return { bytes: own.reduce((sum, row) => sum + rows.index.bytesOf(row) + 1, 0), pieces: () => textsOf(rows, own) };
}
