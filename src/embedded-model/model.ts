import { type ActiveValues, add, attend, normalise, project, projectActive, Rotation, transpose } from "./kernels.ts";
import { Vocabulary } from "./vocabulary.ts";
import { type ModelShape, readWeights, type Weights, WeightsError, type WeightsHeader } from "./weights-file.ts";

/** Matrices of one layer; each has one row per output, but `down` one per input (see `projectActive`). */
interface Layer {
  readonly qkv: Float64Array;
  readonly out: Float64Array;
  readonly up: Float64Array;
  readonly down: Float64Array;
}

/**
 * A decoder-only transformer over characters: token embedding; layers of causal attention (with rotary positions) and a
 * feed-forward part, each behind a normalisation and added to the stream; a normalisation and the head, which gives the logits.
 */
export class EmbeddedModel {
  readonly header: WeightsHeader;
  /** Hex sha256 of the weights. */
  readonly digest: string;
  readonly shape: ModelShape;
  readonly vocabulary: Vocabulary;
  readonly #embedding: Float64Array;
  readonly #head: Float64Array;
  readonly #layers: readonly Layer[];
  readonly #rotation: Rotation;
  readonly #scratch: Scratch;

  /** Throws `WeightsError` when a matrix is missing or has another shape than the header's. */
  constructor({ header, tensors, digest }: Weights) {
    const { shape, vocabulary } = header;
    const { width, hidden, heads, context, layers } = shape;
    if (width % (2 * heads) !== 0) throw new WeightsError(`its width ${width} is not a multiple of two for each of its ${heads} heads`);
    const shapes = new Map(header.tensors.map(({ name, rows, columns }) => [name, `${rows} x ${columns}`]));
    const matrix = (name: string, rows: number, columns: number): Float64Array => {
      const values = tensors.get(name);
      if (values === undefined) throw new WeightsError(`its matrix ${name} is missing`);
      if (shapes.get(name) !== `${rows} x ${columns}`) throw new WeightsError(`its matrix ${name} is ${shapes.get(name)}, not ${rows} x ${columns}`);
      return values;
    };
    this.header = header;
    this.digest = digest;
    this.shape = shape;
    this.vocabulary = new Vocabulary(vocabulary);
    this.#embedding = matrix("embedding", vocabulary.length, width);
    this.#head = matrix("head", vocabulary.length, width);
    this.#layers = Array.from({ length: layers }, (_, index) => ({
      qkv: matrix(`layers.${index}.qkv`, 3 * width, width),
      out: matrix(`layers.${index}.out`, width, width),
      up: matrix(`layers.${index}.up`, hidden, width),
      down: transpose(matrix(`layers.${index}.down`, width, hidden), width, hidden),
    }));
    this.#rotation = new Rotation(width / heads, context);
    this.#scratch = new Scratch(shape);
  }

  /** The most tokens a prompt and its completion may have together. */
  get contextLength(): number {
    return this.shape.context;
  }

  encode(text: string): number[] {
    return this.vocabulary.encode(text);
  }

  decode(ids: Iterable<number>): string {
    return this.vocabulary.decode(ids);
  }

  /** An empty text to be continued. */
  session(): Session {
    return new Session(this, new KeyValueCache(this.shape));
  }

  /**
   * Reads `tokens` behind what `cache` holds. Returns the logits after the last of them, or with `every` after each of them, as
   * rows of the vocabulary's size. Throws `RangeError` for tokens there are not or that do not fit.
   */
  read(tokens: readonly number[], cache: KeyValueCache, every: boolean): Float64Array {
    const { width, hidden, heads, context, layers } = this.shape;
    const { x, normed, qkv, mixed, up, scores, active } = this.#scratch;
    const start = cache.length;
    const count = tokens.length;
    if (count === 0) throw new RangeError("there are no tokens to read");
    if (start + count > context) throw new RangeError(`${start + count} tokens do not fit into the model's context of ${context}`);
    for (const [row, token] of tokens.entries()) this.#embed(token, row);

    let rows = count;
    for (const [index, layer] of this.#layers.entries()) {
      const { keys, values } = cache.layer(index);
      normalise(normed, x, rows, width);
      project(qkv, normed, layer.qkv, rows, width, 3 * width);
      for (let row = 0; row < rows; row++) {
        const at = row * 3 * width;
        this.#rotation.rotate(qkv, at, 2 * heads, start + row);
        keys.set(qkv.subarray(at + width, at + 2 * width), (start + row) * width);
        values.set(qkv.subarray(at + 2 * width, at + 3 * width), (start + row) * width);
      }
      // Above the last layer's keys and values only the rows whose logits are wanted matter.
      const first = index === layers - 1 && !every ? rows - 1 : 0;
      for (let row = first; row < rows; row++) {
        attend(mixed, (row - first) * width, qkv, row * 3 * width, keys, values, scores, start + row, heads, width);
      }
      if (first > 0) x.copyWithin(0, first * width, rows * width);
      rows -= first;
      project(normed, mixed, layer.out, rows, width, width);
      add(x, normed, rows * width);
      normalise(normed, x, rows, width);
      project(up, normed, layer.up, rows, width, hidden);
      projectActive(normed, up, layer.down, rows, hidden, width, active);
      add(x, normed, rows * width);
    }
    cache.length = start + count;
    normalise(normed, x, rows, width);
    const logits = new Float64Array(rows * this.vocabulary.size);
    project(logits, normed, this.#head, rows, width, this.vocabulary.size);
    return logits;
  }

  #embed(token: number, row: number): void {
    const { width } = this.shape;
    if (!Number.isInteger(token) || token < 0 || token >= this.vocabulary.size) {
      throw new RangeError(`there is no token ${token}; the vocabulary has ${this.vocabulary.size}`);
    }
    this.#scratch.x.set(this.#embedding.subarray(token * width, (token + 1) * width), row * width);
  }
}

/** A text the model has read, with the keys and values that spare reading it again. */
export class Session {
  readonly #model: EmbeddedModel;
  readonly #cache: KeyValueCache;

  constructor(model: EmbeddedModel, cache: KeyValueCache) {
    this.#model = model;
    this.#cache = cache;
  }

  /** Tokens read so far. */
  get length(): number {
    return this.#cache.length;
  }

  /** Reads one token; returns the logits of the next. */
  step(token: number): Float64Array {
    return this.#model.read([token], this.#cache, false);
  }

  /** Reads one token or more at once, which is faster than one by one and gives the same; returns the logits of the next. */
  prefill(tokens: readonly number[]): Float64Array {
    return this.#model.read(tokens, this.#cache, false);
  }

  /** Like `prefill`, with the logits after every token. */
  prefillEvery(tokens: readonly number[]): Float64Array[] {
    const logits = this.#model.read(tokens, this.#cache, true);
    const { size } = this.#model.vocabulary;
    return tokens.map((_, row) => logits.subarray(row * size, (row + 1) * size));
  }

  /** A copy that goes on by itself: several completions of one prompt read it once. */
  fork(): Session {
    return new Session(this.#model, this.#cache.copy());
  }
}

/** Keys and values of the tokens read, layer by layer. */
class KeyValueCache {
  length = 0;
  readonly #shape: ModelShape;
  readonly #layers: readonly { readonly keys: Float64Array; readonly values: Float64Array }[];

  constructor(shape: ModelShape) {
    this.#shape = shape;
    const size = shape.context * shape.width;
    this.#layers = Array.from({ length: shape.layers }, () => ({ keys: new Float64Array(size), values: new Float64Array(size) }));
  }

  layer(index: number): { readonly keys: Float64Array; readonly values: Float64Array } {
    const layer = this.#layers[index];
    if (layer === undefined) throw new RangeError(`there is no layer ${index}`);
    return layer;
  }

  copy(): KeyValueCache {
    const copy = new KeyValueCache(this.#shape);
    const used = this.length * this.#shape.width;
    for (const [index, { keys, values }] of this.#layers.entries()) {
      copy.layer(index).keys.set(keys.subarray(0, used));
      copy.layer(index).values.set(values.subarray(0, used));
    }
    copy.length = this.length;
    return copy;
  }
}

/** Room for one reading of at most a context of tokens. Shared by all sessions of a model: a reading is never interrupted. */
class Scratch {
  readonly x: Float64Array;
  readonly normed: Float64Array;
  readonly qkv: Float64Array;
  readonly mixed: Float64Array;
  readonly up: Float64Array;
  readonly scores: Float64Array;
  readonly active: ActiveValues;

  constructor({ context, width, hidden }: ModelShape) {
    this.x = new Float64Array(context * width);
    this.normed = new Float64Array(context * width);
    this.qkv = new Float64Array(context * 3 * width);
    this.mixed = new Float64Array(context * width);
    this.up = new Float64Array(context * hidden);
    this.scores = new Float64Array(context);
    this.active = { values: new Float64Array(hidden), places: new Uint32Array(hidden) };
  }
}

/** A model from the bytes of its weights file. Throws `WeightsError`, which says what is wrong with them. */
export async function loadModel(bytes: Uint8Array<ArrayBuffer>): Promise<EmbeddedModel> {
  return new EmbeddedModel(await readWeights(bytes));
}
