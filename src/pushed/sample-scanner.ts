import { SampleRoom } from "./sample-room.ts";
import { BatchError, type BatchScanner, type ScannedSample } from "./scanned-sample.ts";

const [SPACE, TAB, LF, CR] = [0x20, 0x09, 0x0a, 0x0d];
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

type Place = "before" | "key" | "colon" | "list" | "first" | "sample" | "next" | "object" | "after";
const EXPECTED: Readonly<Record<Place, string>> = {
  before: 'must be {"samples": […]}',
  key: 'must be {"samples": […]}',
  colon: "must be a list",
  list: "must be a list",
  first: "must be an object",
  sample: "",
  next: "must be an object",
  object: "is followed by something else",
  after: "has something behind its end",
};
const KEY = '"samples"';

/**
 * Finds the samples in a body `{"samples": [{…}, …]}` as it comes, a sample in memory at a time. Says where one begins and ends; whether it is JSON, its
 * reader finds out. Throws a `BatchError` for any other body.
 */
export class SampleScanner implements BatchScanner {
  #place: Place = "before";
  #at = 0;
  #key = "";
  readonly #room = new SampleRoom();
  #start = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #position = 0;

  get samples(): number {
    return this.#position;
  }

  *push(chunk: Uint8Array): Generator<ScannedSample> {
    for (let i = 0; i < chunk.length; ) {
      if (this.#place !== "sample") {
        this.#step(chunk[i] ?? 0);
        i++;
        this.#at++;
        continue;
      }
      const end = this.#endIn(chunk, i);
      this.#room.take(chunk.subarray(i, end), this.#open);
      this.#at += end - i;
      i = end;
      if (this.#depth > 0) continue;
      yield { position: this.#position++, offset: this.#start, bytes: this.#room.empty() };
      this.#place = "next";
    }
  }

  end(): readonly ScannedSample[] {
    if (this.#place !== "after") throw new BatchError("body", "is cut off, or no JSON");
    return [];
  }

  readonly #open = (): string => `samples.${this.#position}`;

  /** Where the sample that is open ends in these bytes, or all of them. */
  #endIn(chunk: Uint8Array, from: number): number {
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i];
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inText = false;
      } else if (byte === QUOTE) this.#inText = true;
      else if (byte === OPEN || byte === OPEN_LIST) this.#depth++;
      else if ((byte === CLOSE || byte === CLOSE_LIST) && --this.#depth === 0) return i + 1;
    }
    return chunk.length;
  }

  #step(byte: number): void {
    if (this.#place === "key") return this.#keyByte(byte);
    if (byte === SPACE || byte === TAB || byte === LF || byte === CR) return;
    const next = this.#after(byte);
    if (next === null) throw new BatchError(this.#field, EXPECTED[this.#place]);
    this.#place = next;
  }

  get #field(): string {
    if (this.#place === "first" || this.#place === "next") return this.#open();
    return this.#place === "colon" || this.#place === "list" ? "samples" : "body";
  }

  #after(byte: number): Place | null {
    switch (this.#place) {
      case "before":
        return byte === OPEN ? "key" : null;
      case "colon":
        return byte === COLON ? "list" : null;
      case "list":
        return byte === OPEN_LIST ? "first" : null;
      case "first":
        return byte === CLOSE_LIST && this.#position === 0 ? "object" : this.#sample(byte);
      case "next":
        return byte === COMMA ? "first" : byte === CLOSE_LIST ? "object" : null;
      case "object":
        return byte === CLOSE ? "after" : null;
      default:
        return null;
    }
  }

  #sample(byte: number): Place | null {
    if (byte !== OPEN) return null;
    this.#start = this.#at;
    this.#depth = 1;
    this.#room.take(new Uint8Array([byte]), this.#open);
    return "sample";
  }

  #keyByte(byte: number): void {
    if (this.#key === "" && (byte === SPACE || byte === TAB || byte === LF || byte === CR)) return;
    this.#key += String.fromCharCode(byte);
    if (!KEY.startsWith(this.#key)) throw new BatchError("body", EXPECTED.key);
    if (this.#key === KEY) this.#place = "colon";
  }
}
