import type { BatchRequest } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import { BatchError } from "../../pushed/scanned-sample.ts";

/** Ids of samples in one batch: a Run looks each of them up in one transaction. */
const MAX_IDS = 100_000;

/** Ids that samples of a batch have of their own, with their marks (src/pushed/sample-mark.ts). */
export class BatchIds {
  readonly all: BatchRequest["ids"][number][] = [];
  readonly #list: string;

  /** `list`: what the samples are called in errors. */
  constructor(list: string) {
    this.#list = list;
  }

  /** Throws a `BatchError` where there are too many. */
  add(position: number, id: string, mark: string): void {
    if (this.all.length === MAX_IDS) throw new BatchError(this.#list, `has more than ${MAX_IDS} with an id of their own`, "body_too_large");
    this.all.push([position, id, mark]);
  }
}
