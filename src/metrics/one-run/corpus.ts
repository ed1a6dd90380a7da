import { studentTQuantile } from "../distributions/student-t.ts";
import { withinRange } from "../interval.ts";
import type { RolloutSummary } from "../rollout-summary.ts";
import type { ClusterGroups } from "./cluster-groups.ts";
import { clusteredStderr } from "./clustered-stderr.ts";

/**
 * Metrics of a rollout that scored a text: negative log-likelihood of its scored tokens in nats, how many these are, and their bytes in UTF-8. Beside them that of
 * the text alone, whose mean over texts is nothing.
 */
export const CORPUS_METRICS = { nll: "nll_sum", tokens: "nll_tokens", bytes: "nll_bytes", perplexity: "text_perplexity" } as const;

/** A run over texts as one corpus: sums over all texts first, then the ratio, so that long texts count for as much as they have. */
export interface CorpusNumbers {
  readonly texts: number;
  readonly nll: number;
  readonly tokens: number;
  readonly bytes: number;
  /** exp(nll / tokens). Depends on the tokenizer. */
  readonly perplexity: number;
  /** 95 %, null with fewer than two texts (or groups of them). */
  readonly perplexity_ci95: readonly [number, number] | null;
  /** nll / (ln 2 * bytes); compares models of different tokenizers. Null where no bytes are known. */
  readonly bits_per_byte: number | null;
  readonly bits_per_byte_ci95: readonly [number, number] | null;
}

/** Without how sure they are. */
export const withoutIntervals = (corpus: CorpusNumbers | null): CorpusNumbers | null =>
  corpus === null ? null : { ...corpus, perplexity_ci95: null, bits_per_byte_ci95: null };

/** Sums of one text or group of texts. */
interface Sums {
  nll: number;
  tokens: number;
  bytes: number;
}

/** What a ratio of sums and its spread need of the observations: their products with each other. */
class Moments {
  count = 0;
  nll = 0;
  size = 0;
  nllSquares = 0;
  sizeSquares = 0;
  products = 0;

  add(nll: number, size: number): void {
    this.count += 1;
    this.nll += nll;
    this.size += size;
    this.nllSquares += nll * nll;
    this.sizeSquares += size * size;
    this.products += nll * size;
  }

  merge(other: Moments): void {
    for (const key of ["count", "nll", "size", "nllSquares", "sizeSquares", "products"] as const) this[key] += other[key];
  }

  get ratio(): number {
    return this.nll / Math.max(this.size, 1);
  }

  /**
   * 95 % interval of the ratio by the delta method with the texts (or groups) as observations: SE^2 = G/(G-1) * sum of (nll_i - ratio * size_i)^2 / size^2, and t
   * with G-1 degrees of freedom.
   */
  interval(): readonly [number, number] | null {
    if (this.count < 2 || this.size === 0) return null;
    const { ratio } = this;
    const squares = this.nllSquares - 2 * ratio * this.products + ratio ** 2 * this.sizeSquares;
    // What is left of equal numbers is rounding.
    if (squares <= EQUAL * this.nllSquares) return null;
    const half = studentTQuantile(0.975, this.count - 1) * clusteredStderr(this.count, squares, this.size);
    return withinRange([ratio - half, ratio + half], [0, Number.POSITIVE_INFINITY]);
  }
}

const EQUAL = 1e-12;

/**
 * Corpus numbers of a run as a stream over its examples: additive and mergeable, so that shards give what the whole gives. Memory is constant, and a few numbers
 * for each group where examples are clustered. Rollouts without the three metrics, as those that ended in an error, are no texts.
 */
export class CorpusTally {
  readonly #groups: ClusterGroups | null;
  readonly #tokens = new Moments();
  readonly #bytes = new Moments();
  readonly #byGroup = new Map<number, Sums>();
  #texts = 0;

  constructor(groups: ClusterGroups | null) {
    this.#groups = groups;
  }

  /** All rollouts of one example. */
  addExample(rollouts: readonly RolloutSummary[], cluster = ""): void {
    const sums: Sums = { nll: 0, tokens: 0, bytes: 0 };
    let texts = 0;
    for (const { metrics } of rollouts) {
      const { [CORPUS_METRICS.nll]: nll, [CORPUS_METRICS.tokens]: tokens, [CORPUS_METRICS.bytes]: bytes = 0 } = metrics;
      if (nll === undefined || tokens === undefined) continue;
      texts += 1;
      addTo(sums, { nll, tokens, bytes });
    }
    if (texts === 0) return;
    this.#texts += texts;
    if (this.#groups === null) this.#observe(sums);
    else this.#addGroup(this.#groups.numberOf(cluster), sums);
  }

  /** Takes in what another has seen of other examples. */
  merge(other: CorpusTally): void {
    this.#texts += other.#texts;
    this.#tokens.merge(other.#tokens);
    this.#bytes.merge(other.#bytes);
    const names = other.#groups?.names() ?? [];
    for (const [number, sums] of other.#byGroup) this.#addGroup(this.#groups?.numberOf(names[number] ?? "") ?? number, sums);
  }

  /** Null where no text was scored. */
  result(): CorpusNumbers | null {
    if (this.#texts === 0) return null;
    const [tokens, bytes] = this.#moments();
    const bits = bytes.size === 0 ? null : bytes;
    const perplexity = Math.exp(tokens.ratio);
    // Beyond what a number can be there is nothing to say.
    if (!Number.isFinite(perplexity)) return null;
    return {
      texts: this.#texts,
      nll: tokens.nll,
      tokens: tokens.size,
      bytes: bytes.size,
      perplexity,
      perplexity_ci95: ends(tokens.interval(), Math.exp),
      bits_per_byte: bits === null ? null : bits.ratio / Math.LN2,
      bits_per_byte_ci95: ends(bits?.interval() ?? null, (nats) => nats / Math.LN2),
    };
  }

  #observe({ nll, tokens, bytes }: Sums): void {
    this.#tokens.add(nll, tokens);
    this.#bytes.add(nll, bytes);
  }

  #addGroup(number: number, sums: Sums): void {
    const known = this.#byGroup.get(number);
    if (known === undefined) this.#byGroup.set(number, { ...sums });
    else addTo(known, sums);
  }

  #moments(): readonly [Moments, Moments] {
    if (this.#groups === null) return [this.#tokens, this.#bytes];
    const [tokens, bytes] = [new Moments(), new Moments()];
    for (const sums of this.#byGroup.values()) {
      tokens.add(sums.nll, sums.tokens);
      bytes.add(sums.nll, sums.bytes);
    }
    return [tokens, bytes];
  }
}

function addTo(sums: Sums, { nll, tokens, bytes }: Sums): void {
  sums.nll += nll;
  sums.tokens += tokens;
  sums.bytes += bytes;
}

function ends(interval: readonly [number, number] | null, of: (end: number) => number): readonly [number, number] | null {
  if (interval === null) return null;
  const [low, high] = [of(interval[0]), of(interval[1])];
  return Number.isFinite(high) ? [low, high] : null;
}
