import { mix, mixSeed } from "../mix.ts";

/** How the next token is chosen. */
export interface SamplingOptions {
  /** 0 takes the most probable token (the first of several). */
  readonly temperature: number;
  /** Only the most probable tokens that together reach this share are drawn from; 1 = all. */
  readonly topP: number;
}

/** Natural logarithms of the probabilities that logits stand for. */
export function logSoftmax(logits: Float64Array): Float64Array {
  let highest = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > highest) highest = logit;
  let total = 0;
  for (const logit of logits) total += Math.exp(logit - highest);
  const shift = highest + Math.log(total);
  return logits.map((logit) => logit - shift);
}

/** Probabilities the next token is drawn with: those of the logits divided by the temperature, cut to `topP`, sum 1. */
export function samplingDistribution(logits: Float64Array, { temperature, topP }: SamplingOptions): Float64Array {
  if (temperature === 0) {
    const certain = new Float64Array(logits.length);
    certain[argMax(logits)] = 1;
    return certain;
  }
  const probabilities = logSoftmax(logits.map((logit) => logit / temperature)).map(Math.exp);
  return topP < 1 ? nucleus(probabilities, topP) : probabilities;
}

/** The smallest set of most probable tokens whose share is at least `topP` (never empty), scaled to a sum of 1. */
function nucleus(probabilities: Float64Array, topP: number): Float64Array {
  // Equal probabilities keep the order of their ids, so that the cut is the same everywhere.
  const order = Array.from(probabilities, (probability, token) => ({ probability, token })).sort((a, b) => b.probability - a.probability || a.token - b.token);
  const kept = new Float64Array(probabilities.length);
  let share = 0;
  for (const { probability, token } of order) {
    kept[token] = probability;
    share += probability;
    if (share >= topP) break;
  }
  return kept.map((probability) => probability / share);
}

/** The token that `uniform`, a number in [0, 1), falls on. */
export function draw(distribution: Float64Array, uniform: number): number {
  let below = 0;
  let last = 0;
  for (const [token, probability] of distribution.entries()) {
    if (probability === 0) continue;
    below += probability;
    last = token;
    if (uniform < below) return token;
  }
  // Rounding may leave the sum a little below 1.
  return last;
}

export function argMax(values: Float64Array): number {
  let best = 0;
  let highest = Number.NEGATIVE_INFINITY;
  for (const [index, value] of values.entries()) {
    if (value > highest) {
      highest = value;
      best = index;
    }
  }
  return best;
}

/** Numbers in [0, 1), 53 bits each, decided by the seed (any safe integer) alone. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = mixSeed(seed);
  }

  next(): number {
    const high = this.#next32() >>> 5;
    const low = this.#next32() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }

  #next32(): number {
    this.#state = (this.#state + 1) >>> 0;
    return mix(mix(this.#state));
  }
}
