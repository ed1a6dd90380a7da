/**
 * The arithmetic of the model, on row-major float64 matrices. Every sum is made in one order, whatever the number of rows, so
 * that reading a prompt at once gives the same bits as reading it token by token.
 *
 * The callers choose all shapes, so every index is in range; `as number` says so to the compiler, which cannot know.
 */

/** `out[r] = w · x[r]` for `rows` rows of `inputs` values; `w` has `outputs` rows of `inputs`. */
export function project(out: Float64Array, x: Float64Array, w: Float64Array, rows: number, inputs: number, outputs: number): void {
  let row = 0;
  for (; row + 4 <= rows; row += 4) projectFour(out, x, w, row, inputs, outputs);
  for (; row < rows; row++) projectOne(out, x, w, row, inputs, outputs, 0);
}

/** Four rows by two outputs at once: each weight read serves four rows, each value two outputs. */
function projectFour(out: Float64Array, x: Float64Array, w: Float64Array, row: number, inputs: number, outputs: number): void {
  const [x0, x1, x2, x3] = [row * inputs, (row + 1) * inputs, (row + 2) * inputs, (row + 3) * inputs];
  let output = 0;
  for (; output + 2 <= outputs; output += 2) {
    const w0 = output * inputs;
    const w1 = w0 + inputs;
    let [a0, a1, a2, a3, b0, b1, b2, b3] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let i = 0; i < inputs; i++) {
      const a = w[w0 + i] as number;
      const b = w[w1 + i] as number;
      const v0 = x[x0 + i] as number;
      const v1 = x[x1 + i] as number;
      const v2 = x[x2 + i] as number;
      const v3 = x[x3 + i] as number;
      a0 += a * v0;
      a1 += a * v1;
      a2 += a * v2;
      a3 += a * v3;
      b0 += b * v0;
      b1 += b * v1;
      b2 += b * v2;
      b3 += b * v3;
    }
    const at = row * outputs + output;
    out[at] = a0;
    out[at + 1] = b0;
    out[at + outputs] = a1;
    out[at + outputs + 1] = b1;
    out[at + 2 * outputs] = a2;
    out[at + 2 * outputs + 1] = b2;
    out[at + 3 * outputs] = a3;
    out[at + 3 * outputs + 1] = b3;
  }
  if (output < outputs) for (let r = row; r < row + 4; r++) projectOne(out, x, w, r, inputs, outputs, output);
}

/** One row, four outputs at once, from output `first` on. */
function projectOne(out: Float64Array, x: Float64Array, w: Float64Array, row: number, inputs: number, outputs: number, first: number): void {
  const from = row * inputs;
  const to = row * outputs;
  let output = first;
  for (; output + 4 <= outputs; output += 4) {
    const w0 = output * inputs;
    const w1 = w0 + inputs;
    const w2 = w1 + inputs;
    const w3 = w2 + inputs;
    let [a0, a1, a2, a3] = [0, 0, 0, 0];
    for (let i = 0; i < inputs; i++) {
      const v = x[from + i] as number;
      a0 += v * (w[w0 + i] as number);
      a1 += v * (w[w1 + i] as number);
      a2 += v * (w[w2 + i] as number);
      a3 += v * (w[w3 + i] as number);
    }
    out[to + output] = a0;
    out[to + output + 1] = a1;
    out[to + output + 2] = a2;
    out[to + output + 3] = a3;
  }
  for (; output < outputs; output++) {
    const w0 = output * inputs;
    let sum = 0;
    for (let i = 0; i < inputs; i++) sum += (x[from + i] as number) * (w[w0 + i] as number);
    out[to + output] = sum;
  }
}

const EPSILON = 1e-5;

/** Each row divided by the root of its mean square; there is no learned gain, the matrix that follows can hold it. */
export function normalise(out: Float64Array, x: Float64Array, rows: number, width: number): void {
  for (let row = 0; row < rows; row++) {
    const at = row * width;
    let squares = 0;
    for (let i = at; i < at + width; i++) squares += (x[i] as number) * (x[i] as number);
    const scale = 1 / Math.sqrt(squares / width + EPSILON);
    for (let i = at; i < at + width; i++) out[i] = (x[i] as number) * scale;
  }
}

/** `x += y`, over the first `length` values. */
export function add(x: Float64Array, y: Float64Array, length: number): void {
  for (let i = 0; i < length; i++) x[i] = (x[i] as number) + (y[i] as number);
}

/** Room for the positive values of one row and their places. */
export interface ActiveValues {
  readonly values: Float64Array;
  readonly places: Uint32Array;
}

/**
 * The feed-forward part from its hidden values `x` on: negative ones become 0, others are squared, and `w` is applied. Here `w`
 * has one row of `outputs` (a multiple of 4) per *input*: three in four inputs are 0, and their rows are not read.
 */
export function projectActive(out: Float64Array, x: Float64Array, w: Float64Array, rows: number, inputs: number, outputs: number, active: ActiveValues): void {
  const { values, places } = active;
  for (let row = 0; row < rows; row++) {
    let count = 0;
    for (let input = 0; input < inputs; input++) {
      const value = x[row * inputs + input] as number;
      if (value > 0) {
        values[count] = value * value;
        places[count++] = input * outputs;
      }
    }
    for (let output = 0; output < outputs; output += 4) {
      let [a0, a1, a2, a3] = [0, 0, 0, 0];
      for (let i = 0; i < count; i++) {
        const v = values[i] as number;
        const at = (places[i] as number) + output;
        a0 += v * (w[at] as number);
        a1 += v * (w[at + 1] as number);
        a2 += v * (w[at + 2] as number);
        a3 += v * (w[at + 3] as number);
      }
      const to = row * outputs + output;
      out[to] = a0;
      out[to + 1] = a1;
      out[to + 2] = a2;
      out[to + 3] = a3;
    }
  }
}

/** Columns as rows. */
export function transpose(x: Float64Array, rows: number, columns: number): Float64Array {
  return Float64Array.from({ length: x.length }, (_, i) => x[(i % rows) * columns + Math.floor(i / rows)] as number);
}

const ROTATION_BASE = 100;

/** Cosines and sines that `rotate` turns vectors by: `size / 2` of each per position. */
export class Rotation {
  readonly size: number;
  readonly #cosines: Float64Array;
  readonly #sines: Float64Array;

  constructor(size: number, positions: number) {
    const half = size / 2;
    this.size = size;
    const angles = Float64Array.from({ length: positions * half }, (_, i) => Math.floor(i / half) * ROTATION_BASE ** (-(i % half) / half));
    this.#cosines = angles.map(Math.cos);
    this.#sines = angles.map(Math.sin);
  }

  /**
   * Rotary position embedding, in place, of `count` vectors of `size` values from `at` on: value `i` and value `i + size / 2`
   * turn by an angle that grows with the position, so that a query and a key meet by their distance.
   */
  rotate(x: Float64Array, at: number, count: number, position: number): void {
    const half = this.size / 2;
    const angles = position * half;
    for (let vector = at; vector < at + count * this.size; vector += this.size) {
      for (let i = 0; i < half; i++) {
        const cos = this.#cosines[angles + i] as number;
        const sin = this.#sines[angles + i] as number;
        const first = x[vector + i] as number;
        const second = x[vector + half + i] as number;
        x[vector + i] = first * cos - second * sin;
        x[vector + half + i] = first * sin + second * cos;
      }
    }
  }
}

/**
 * Causal attention of one query over the keys and values of positions 0 to `last`, head by head. `query` and `out` are read and
 * written from `queryAt` and `outAt`; `scores` has room for `last + 1` values.
 */
export function attend(
  out: Float64Array,
  outAt: number,
  query: Float64Array,
  queryAt: number,
  keys: Float64Array,
  values: Float64Array,
  scores: Float64Array,
  last: number,
  heads: number,
  width: number,
): void {
  const size = width / heads;
  const scale = 1 / Math.sqrt(size);
  for (let head = 0; head < heads; head++) {
    const q = queryAt + head * size;
    let highest = Number.NEGATIVE_INFINITY;
    for (let position = 0; position <= last; position++) {
      const k = position * width + head * size;
      let dot = 0;
      for (let i = 0; i < size; i++) dot += (query[q + i] as number) * (keys[k + i] as number);
      dot *= scale;
      scores[position] = dot;
      if (dot > highest) highest = dot;
    }
    let total = 0;
    for (let position = 0; position <= last; position++) {
      const weight = Math.exp((scores[position] as number) - highest);
      scores[position] = weight;
      total += weight;
    }
    const o = outAt + head * size;
    for (let i = 0; i < size; i++) out[o + i] = 0;
    for (let position = 0; position <= last; position++) {
      const weight = (scores[position] as number) / total;
      const v = position * width + head * size;
      for (let i = 0; i < size; i++) out[o + i] = (out[o + i] as number) + weight * (values[v + i] as number);
    }
  }
}
