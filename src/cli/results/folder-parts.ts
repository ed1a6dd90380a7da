/** A results folder cut into parts to be uploaded: whole examples, those that something is owed of first. */
import { closeSync, openSync, readSync } from "node:fs";
import { type IdRange, rangesOfIds } from "../../../r2-layout/folder-manifest.ts";
import { MAX_BODY_BYTES } from "../../limits.ts";
import { usageError } from "../terminal/cli-error.ts";
import type { RowIndex } from "./row-index.ts";

/** Rows of one part, by their numbers in the index, in the order in which they stand in it. */
export interface PlannedPart {
  readonly rows: readonly number[];
  readonly bytes: number;
}

export interface FolderPlan {
  readonly parts: readonly PlannedPart[];
  readonly held: readonly IdRange[];
}

interface Group extends PlannedPart {
  readonly example: number;
  readonly owing: boolean;
}

/**
 * Examples with rollouts that are missing or failed come first: what they owe is known, and asked of the model, before the rest is taken
 * over. Within a part examples ascend. `partBytes`: beyond it a part has but one example. Throws a usage error for an example that no
 * upload takes.
 */
export function planParts(index: RowIndex, rollouts: number, partBytes: number): FolderPlan {
  const groups = groupsOf(index, rollouts);
  const first = groups.filter(({ owing }) => owing);
  const parts = [...cut(first, partBytes), ...cut(first.length === 0 ? groups : groups.filter(({ owing }) => !owing), partBytes)];
  return { parts, held: rangesOfIds(groups.map(({ example }) => example)) };
}

function groupsOf({ path, order, example, failed, bytes }: RowIndex, rollouts: number): Group[] {
  const groups: Group[] = [];
  for (let from = 0; from < order.length; ) {
    const id = example[order[from] ?? 0] ?? 0;
    let size = 0;
    let owing = false;
    let to = from;
    for (; to < order.length && example[order[to] ?? 0] === id; to++) {
      size += (bytes[order[to] ?? 0] ?? 0) + 1;
      owing ||= failed[order[to] ?? 0] === true;
    }
    if (size > MAX_BODY_BYTES) throw usageError(`${path}: the rows of example ${id} have ${size} bytes; at most ${MAX_BODY_BYTES} of one example can be sent`);
    groups.push({ example: id, rows: order.slice(from, to), bytes: size, owing: owing || to - from < rollouts });
    from = to;
  }
  return groups;
}

function cut(groups: readonly Group[], partBytes: number): PlannedPart[] {
  const parts: { rows: number[]; bytes: number }[] = [];
  for (const { rows, bytes } of groups) {
    const open = parts.at(-1);
    if (open === undefined || open.bytes + bytes > partBytes) parts.push({ rows: [...rows], bytes });
    else {
      open.rows.push(...rows);
      open.bytes += bytes;
    }
  }
  return parts;
}

/** The bytes of parts, one at a time; holds the file open until it is closed. */
export class PartReader {
  readonly #index: RowIndex;
  readonly #file: number;

  constructor(index: RowIndex) {
    this.#index = index;
    this.#file = openSync(index.path, "r");
  }

  /** Each row with a line end behind it; rows that lie side by side are read as one. Throws a usage error when the file is shorter by now. */
  read({ rows, bytes }: PlannedPart): Uint8Array {
    const { offset, bytes: sizes, path } = this.#index;
    const part = Buffer.alloc(bytes, "\n");
    let at = 0;
    for (let next = 0; next < rows.length; ) {
      const start = offset[rows[next] ?? 0] ?? 0;
      let end = start;
      for (let wanted = start; next < rows.length && offset[rows[next] ?? 0] === wanted; next++) {
        end = wanted + (sizes[rows[next] ?? 0] ?? 0);
        wanted = end + 1;
      }
      for (let done = 0; done < end - start; ) {
        const read = readSync(this.#file, part, at + done, end - start - done, start + done);
        if (read === 0) throw usageError(`${path} became shorter while it was read`, "End whatever else writes it, and resume again.");
        done += read;
      }
      at += end - start + 1;
    }
    return part;
  }

  close(): void {
    closeSync(this.#file);
  }
}
