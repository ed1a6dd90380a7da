import { exportKey, exportPrefix, outputKey } from "../../r2-layout/keys.ts";
import type { RunConfig } from "../config/plan/run-config.ts";
import { EdgewiseError } from "../errors/result.ts";
import { count } from "../operations.ts";
import { teamPrefix } from "../teams/team-name.ts";
import { type ExportState, readExportState } from "./export-state.ts";

type ConfigOfPlace = Pick<RunConfig, "run_id" | "env_id" | "model" | "team">;

/** Where in R2 the export of one generation of a run is. */
export class ExportPlace {
  readonly #bucket: R2Bucket;
  readonly #config: ConfigOfPlace;
  readonly #generation: number;

  constructor(bucket: R2Bucket, config: ConfigOfPlace, generation: number) {
    this.#bucket = bucket;
    this.#config = config;
    this.#generation = generation;
  }

  /** The key of a file of the export: `state.json`, `README.md`, `0.parquet` and so on. */
  key(file: string): string {
    return `${teamPrefix(this.#config.team)}${exportKey(this.#config.run_id, this.#generation, file)}`;
  }

  /** The state as it is, and what it is known by; null where nobody has begun. */
  async state(): Promise<{ readonly state: ExportState; readonly etag: string } | null> {
    count("r2_class_b");
    const object = await this.#bucket.get(this.key("state.json"));
    return object === null ? null : { state: readExportState(await object.text()), etag: object.etag };
  }

  /** Replaces what is known by `etag`, or nothing (null); the new one's, or null when somebody else was there first. */
  async store(state: ExportState, etag: string | null): Promise<string | null> {
    count("r2_class_a");
    const onlyIf = etag === null ? new Headers({ "if-none-match": "*" }) : { etagMatches: etag };
    const put = await this.#bucket.put(this.key("state.json"), JSON.stringify(state), { onlyIf });
    return put?.etag ?? null;
  }

  async put(file: string, bytes: Uint8Array | string): Promise<void> {
    count("r2_class_a");
    await this.#bucket.put(this.key(file), bytes);
  }

  async startUpload(file: string): Promise<R2MultipartUpload> {
    count("r2_class_a");
    return await this.#bucket.createMultipartUpload(this.key(file));
  }

  /** Bytes of a file of the results folder; null when it is not there. */
  async size(file: "results.jsonl"): Promise<number | null> {
    count("r2_class_b");
    return (await this.#bucket.head(this.#output(file)))?.size ?? null;
  }

  /** The file from byte `offset` on; null when it is not there. */
  async read(file: "results.jsonl" | "metadata.json", offset = 0): Promise<ReadableStream<Uint8Array> | null> {
    count("r2_class_b");
    return (await this.#bucket.get(this.#output(file), { range: { offset } }))?.body ?? null;
  }

  /** So many bytes of a file of the export, from `offset` on; their number is known to whoever sends them on. */
  async piece(file: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    count("r2_class_b");
    const body = length === 0 ? new Response("").body : ((await this.#bucket.get(this.key(file), { range: { offset, length } }))?.body ?? null);
    if (body === null) throw new EdgewiseError("storage_unavailable", "A file of this run's export is missing in storage.");
    const { readable, writable } = new FixedLengthStream(length);
    // Whoever reads it learns of what goes wrong.
    body.pipeTo(writable).catch(() => undefined);
    return readable;
  }

  /** Removes what is of other generations, or of all of them. */
  async clear(which: "others" | "all"): Promise<void> {
    const prefix = `${teamPrefix(this.#config.team)}${exportPrefix(this.#config.run_id)}`;
    const own = this.key("");
    for (let cursor: string | undefined; ; ) {
      count("r2_class_a");
      const page = await this.#bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) });
      const keys = page.objects.map(({ key }) => key).filter((key) => which === "all" || !key.startsWith(own));
      if (keys.length > 0) await this.#bucket.delete(keys);
      if (!page.truncated) return;
      ({ cursor } = page);
    }
  }

  #output(file: "results.jsonl" | "metadata.json"): string {
    const { env_id, model, run_id, team } = this.#config;
    return `${teamPrefix(team)}${outputKey(env_id, model, run_id, file)}`;
  }
}
