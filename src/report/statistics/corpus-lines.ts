import type { CorpusNumbers } from "../../metrics/one-run/corpus.ts";
import { fixed, thousands } from "../text/format.ts";
import { intervalText } from "./uncertainty.ts";

type Interval = readonly [number, number] | null;

const sure = (interval: Interval): string => (interval === null ? "" : ` (95 % from ${intervalText(interval)})`);
const count = (n: number, one: string): string => `${thousands(n)} ${one}${n === 1 ? "" : "s"}`;

/** `12.345 (95 % from 11.1 to 13.9), 1.234 bits per byte (95 % from …), of 1,234 tokens in 20 texts`: the number of a run that scored texts. */
export function corpusText({ perplexity, perplexity_ci95, bits_per_byte, bits_per_byte_ci95, tokens, texts }: CorpusNumbers): string {
  const bits = bits_per_byte === null ? "" : `, ${fixed(bits_per_byte, 3)} bits per byte${sure(bits_per_byte_ci95)}`;
  return `${fixed(perplexity, 3)}${sure(perplexity_ci95)}${bits}, of ${count(tokens, "token")} in ${count(texts, "text")}`;
}

/** What a report leads with where texts were scored; no lines for any other run. */
export function corpusLines(corpus: CorpusNumbers | null): readonly string[] {
  if (corpus === null) return [];
  const { perplexity, perplexity_ci95, bits_per_byte, bits_per_byte_ci95, tokens, texts } = corpus;
  return [
    "Corpus:",
    `perplexity: ${fixed(perplexity, 3)}${sure(perplexity_ci95)}`,
    ...(bits_per_byte === null ? [] : [`bits per byte: ${fixed(bits_per_byte, 3)}${sure(bits_per_byte_ci95)}`]),
    `scored: ${count(tokens, "token")} in ${count(texts, "text")}; the reward below weighs every text alike`,
  ];
}
